# SPDX-License-Identifier: MIT
"""torch's device "refdev": the accelerator in software as a backend, alone and in captures."""
import csv
import fcntl
import json
import os
import subprocess

import pytest


@pytest.fixture(scope="session")
def backend(torch_python, repo, build, tmp_path_factory):
    """Environment in which that Python finds the device; built once, whoever of the workers asks
    first."""
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
def do(run, torch_python, backend, repo):
    """What a function of the program prints."""
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
    assert info["device_work"] == info["linked"] > 100
    assert info["seen"] == info["recorded"]
    tap("export", "a.gputap", "-o", "a.csv")
    rows = list(csv.DictReader((work / "a.csv").open(encoding="utf-8")))
    inside = set()  # numbers of the calls that operators made
    for r in rows:
        if r["operation"] == "torch_operator":
            first = int(r["correlation"])  # high half: the thread's
            last = first >> 32 << 32 | int(r["return"], 16) & 0xffffffff
            inside.update(range(first, last + 1))
    device = [r for r in rows if r["kind"] == "device"]
    assert len(device) == info["device_work"]
    assert [r["name"] for r in device if int(r["correlation"]) not in inside] == []
    assert {"refdev_gemm<float>", "refdev_sum<float>"} <= {r["name"] for r in device}
