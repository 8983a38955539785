# SPDX-License-Identifier: MIT
"""Test torch's device "refdev", the software accelerator as a backend, alone and in captures."""
import csv
import fcntl
import json
import os
import re
import shutil
import subprocess

import pytest


@pytest.fixture(scope="session")
def backend(torch_python, repo, build, tmp_path_factory):
    """Build the device once, in the first worker. Return the environment in which torch's Python
    finds it."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    site = folder / "torch-refdev"
    with open(folder / "torch-refdev.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (site / "torch_refdev").exists():
            subprocess.run([
                torch_python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target",
                site, repo / "torch/backend"
            ], check=True, env={
                **os.environ, "GPUTAP_REFDEV": str(build / "soft/refdev/librefdev.so.1"),
                "PYTHONDONTWRITEBYTECODE": "1"
            })
    return {"PYTHONPATH": site, "OMP_NUM_THREADS": 1, "GPUTAP_QUIET": 1}


@pytest.fixture
def do(run, torch_python, backend, repo, work):
    """Return a function: do("name") runs a function of the program and returns the output."""
    def call(*words, env=None, status=0):
        return run([torch_python, "-W", "error", repo / "tests/torch_refdev_program.py", *words],
                   env={**backend, **(env or {})}, status=status)
    return call


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw"])
@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_a_model_trains_with_the_cpus_losses(do, model, optimizer):
    assert do("compare", model, optimizer).out == "same losses\n"


def test_operators_and_their_gradients_agree_with_the_cpus(do):
    assert "agree" in do("operators").out


def test_types_that_no_kernel_knows_are_the_cpus(do):
    assert do("whole_numbers").out == "same numbers\n"


def test_results_go_where_the_program_wants_them(do):
    assert do("outs").out == "as given\n"


# A device as programs use it ---------------------------------------------------------

@pytest.mark.parametrize("name, says", [
    ("memory", "given back"), ("record_stream", "waited for"), ("memory_profile", "seen"),
    ("pinned", "copied"), ("streams", "in order"), ("random", "the same"), ("files", "kept"),
    ("fork", "True the device belongs to the parent process"), ("old_profiler", "measured"),
])
def test_it_has(do, name, says):
    assert do(name).out.splitlines()[-1:] == [says]


def test_what_it_has_no_memory_for_is_torchs_error(do):
    assert do("no_memory", env={"REFDEV_MEMORY": "8M"}).out == "refdev True\n"


def test_two_devices_copy_and_are_not_mixed(do):
    out = do("devices", env={"REFDEV_DEVICES": 2}).out
    assert out == "Expected all tensors to be on the same device 0\n"


@pytest.mark.parametrize("fault, says", [
    ("kernel:1", "refdev: kernel fault: refdevDeviceSynchronize"),
    ("launch:1", "refdev: the device failed: refdevLaunchKernel"),
    ("malloc:1", "no error 3"),  # the allocator frees its cache and tries again
])
def test_a_fault_of_the_device_is_an_exception(do, fault, says):
    assert do("fault", "x", env={"REFDEV_FAULTS": fault}).out.strip() == says


def test_torch_loads_it_unless_it_is_told_not_to(run, torch_python, backend):
    script = "import torch; print(torch._C._get_privateuse1_backend_name())"
    assert run([torch_python, "-c", script], env=backend).out == "refdev\n"
    env = {**backend, "TORCH_DEVICE_BACKEND_AUTOLOAD": 0}
    assert run([torch_python, "-c", script], env=env).out == "privateuseone\n"


def test_a_build_for_another_torch_says_so_and_is_not_loaded(run, torch_python, torch_version,
                                                               backend, tmp_path):
    shutil.copytree(backend["PYTHONPATH"], tmp_path / "other")
    module = tmp_path / "other/torch_refdev/__init__.py"
    module.write_text(re.sub("BUILT_FOR = .*", "BUILT_FOR = (2, 10)", module.read_text()))
    script = "import torch; print(torch._C._get_privateuse1_backend_name())"
    result = run([torch_python, "-c", script], env={**backend, "PYTHONPATH": tmp_path / "other"})
    assert result.out == "privateuseone\n"
    assert "built for torch 2.10, but this torch is %d.%d:" % torch_version[:2] in result.err


def test_a_build_without_the_accelerator_is_one_sentence(run, torch_python, repo, tmp_path):
    script = (f"import sys; sys.dont_write_bytecode = True\n"
              f"sys.path.insert(0, {str(repo / 'torch/backend')!r})\n"
              f"import build_refdev; build_refdev.build_wheel({str(tmp_path)!r})")
    result = run([torch_python, "-c", script], env={"GPUTAP_REFDEV": "/nonexistent"}, status=1)
    assert "no librefdev.so.1 in /nonexistent: build gputap first" in result.err
    assert "Traceback" not in result.err


# In torch.profiler -------------------------------------------------------------------

@pytest.mark.parametrize("way", ["plug-in", "runtime"])
def test_its_kernels_are_in_torchs_profile_under_their_operators(do, backend, torch_package, build,
                                                                 way, monkeypatch):
    env = {
        "PYTHONPATH": f"{torch_package['PYTHONPATH']}{os.pathsep}{backend['PYTHONPATH']}",
        "GPUTAP_LIBRARIES": f"{build}:{build}/src/plugin"
    }
    if way == "plug-in":
        env["KINETO_PLUGIN_PATH"] = build / "soft/refdev/librefdev_pu1.so"
    result = do("profiler", env=env)
    assert "duplicate flow" not in result.err  # driver calls share the runtime's ids
    found = json.loads(result.out.splitlines()[-1])
    counts = found["counts"]
    assert counts["plugins"] == (way == "plug-in")
    assert counts["unlinked"] == counts["outside"] == counts["lost"] == 0
    assert found["kernels"] > 100 and found["rows"]["aten::mm"] > 0
    of = {tuple(pair) for pair in found["of"]}
    assert {("refdev_gemm<float>", "aten::mm"), ("refdev_gelu<float>", "aten::gelu")} <= of
    assert not [pair for pair in of if not pair[1]]


# In captures -------------------------------------------------------------------------

@pytest.fixture
def capture(tap, torch_python, backend, torch_package, repo):
    def make(*words):
        paths = f"{torch_package['PYTHONPATH']}{os.pathsep}{backend['PYTHONPATH']}"
        tap("run", "-f", "-o", "a.gputap", "--", torch_python,
            repo / "tests/torch_refdev_program.py", *words, env={**backend, "PYTHONPATH": paths})
        return json.loads(tap("info", "--json", "a.gputap").out)
    return make


@pytest.mark.parametrize("model", ["mlp", "transformer"])
def test_all_its_device_work_is_recorded_and_linked_to_operators(capture, tap, work, model):
    info = capture("profile", model)
    assert info["activities"] == info["linked"] > 100
    assert info["seen"] == info["recorded"]
    tap("export", "a.gputap", "-o", "a.csv")
    rows = list(csv.DictReader((work / "a.csv").open(encoding="utf-8")))
    inside = set()  # correlation ids of calls inside operators
    for r in rows:
        if r["operation"] == "range_operator":
            first = int(r["correlation"])  # the high half is the thread number
            last = first >> 32 << 32 | int(r["return"], 16) & 0xffffffff
            inside.update(range(first, last + 1))
    device = [r for r in rows if r["kind"] == "device"]
    assert len(device) == info["activities"]
    assert [r["name"] for r in device if int(r["correlation"]) not in inside] == []
    assert {"refdev_gemm<float>", "refdev_sum<float>"} <= {r["name"] for r in device}
    report = tap("report", "--by", "range", "--top", "0", "a.gputap").out
    assert re.search(r"aten::addmm$", report, re.M), report
