# SPDX-License-Identifier: MIT
"""Test torch's operators, autograd's nodes and the program's ranges in captures that `gputap run`
records of a script that does not import gputap."""
import csv
import io
import json
import sys
import os
import subprocess

import pytest

NEVER = {"GPUTAP_TORCH_OPERATORS": 0}


@pytest.fixture
def train(tap, run, repo, torch_python, torch_package, work):
    """Return a function: call() runs the training program and returns the result and the ranges as
    (operation, name, row)."""
    def call(*words, env=None, status=0):
        result = tap("run", "-f", "-o", "a.gputap", "--", torch_python,
                     repo / "tests/torch_train.py", *words, env={**torch_package, **(env or {})},
                     status=status)
        tap("export", "-f", "a.gputap", "-o", "a.csv")
        rows = csv.DictReader(io.StringIO((work / "a.csv").read_text()))
        return result, [(r["operation"], r["arguments"].split('"')[1], r) for r in rows
                        if r["domain"] == "ranges"]
    return call


def count(ranges, name):
    return sum(n == name for _, n, _ in ranges)


def test_operators_are_recorded_without_an_import(train, run, torch_python, torch_package, repo):
    bare = run([torch_python, repo / "tests/torch_train.py"], env=torch_package)
    result, ranges = train()
    assert result.out == bare.out and result.err.count("gputap:") == bare.err.count("gputap:") + 2
    assert count(ranges, "aten::linear") == 6 and count(ranges, "aten::relu") == 3
    assert {o for o, n, _ in ranges if n == "aten::linear"} == {"range_operator"}


def test_the_programs_ranges_are_told_apart(train):
    _, ranges = train()
    users = [n for o, n, _ in ranges if o == "range_user"]
    assert [n for n in users if n.startswith("step")] == ["step 0", "step 1", "step 2"]
    assert users.count("forward") == 3


def test_an_operator_lies_inside_of_what_called_it(train):
    _, ranges = train()
    spans = {int(r["correlation"]): (int(r["return"], 16) & (1 << 40) - 1, n)
             for _, n, r in ranges}
    inside = [n for i, (_, n) in spans.items()
              if any(j < i <= last and name == "aten::linear" for j, (last, name) in spans.items())]
    assert inside.count("aten::addmm") == 6


def test_autograds_nodes_have_the_sequence_number_of_their_operator(train):
    _, ranges = train()
    number = lambda r: r["arguments"].split("sequence=")[1].split(",")[0]  # noqa: E731
    forward = {number(r) for _, n, r in ranges if n == "aten::addmm" and number(r) != "-1"}
    backward = {number(r) for o, n, r in ranges
                if o == "range_backward" and n == "AddmmBackward0"}
    assert len(backward) == 6 and backward <= forward


def test_another_threads_operators_are_its_own(train):
    _, ranges = train("thread")
    threads = {r["tid"] for _, n, r in ranges if n == "aten::linear"}
    assert len(threads) == 1 and threads != {r["pid"] for _, _, r in ranges}


def test_an_operator_that_throws_is_ended(train):
    _, ranges = train("raise")
    assert count(ranges, "raises") == 1 and count(ranges, "aten::matmul") == 1
    after = [r for _, n, r in ranges if n == "aten::add"]
    assert len(after) == 1


def test_ranges_are_decorators_too(train):
    assert count(train("decorate")[1], "decorated") == 2


def test_shapes_are_recorded_when_they_are_asked_for(train, tap, work):
    assert all("shapes=NULL" in r["arguments"] for _, _, r in train()[1])
    train(env={"GPUTAP_TORCH_SHAPES": 1})
    tap("export", "a.gputap", "-o", "a.json")
    events = json.loads((work / "a.json").read_text())["traceEvents"]
    dims = [e["args"]["Input Dims"] for e in events if e["name"] == "aten::addmm"]
    assert dims[0][:3] == [[16], [4, 8], [8, 16]]


def test_modules_are_ranges_around_their_operators_when_they_are_asked_for(train):
    assert not [n for _, n, _ in train()[1] if n.startswith("nn.Module")]
    _, ranges = train(env={"GPUTAP_TORCH_MODULES": 1})
    modules = [n for o, n, _ in ranges if n.startswith("nn.Module")]
    assert {n: modules.count(n) for n in modules} == {
        "nn.Module: Sequential_0": 3, "nn.Module: Linear_0": 3, "nn.Module: ReLU_0": 3,
        "nn.Module: Linear_1": 3}
    spans = [(int(r["correlation"]), int(r["return"], 16) & (1 << 40) - 1, n)
             for _, n, r in ranges]
    linear = [s for s in spans if s[2] == "nn.Module: Linear_1"]
    inside = [n for i, _, n in spans if any(a < i <= b for a, b, _ in linear)]
    assert len(linear) == inside.count("aten::linear") == 3


def test_a_module_that_throws_is_ended(run, tap, torch_python, torch_package, work):
    script = ("import torch\nm = torch.nn.Linear(2, 2)\ntry: m(torch.ones(3))\n"
              "except RuntimeError: pass\ntorch.ones(1)\n")
    tap("run", "-o", "a.gputap", "--", torch_python, "-c", script,
        env={**torch_package, "GPUTAP_TORCH_MODULES": 1})
    ranges = tap("report", "--csv", "-t", "ranges", "--where", "range~^nn", "a.gputap").out
    names = {r["name"]: r["count"] for r in csv.DictReader(io.StringIO(ranges))}
    assert names.pop("nn.Module: Linear_0") == "1"
    assert "aten::linear" in names and "aten::ones" not in names


def test_ranges_that_torch_emits_by_itt_are_recorded_without_the_package(tap, torch_python, work):
    script = ("import torch\nwith torch.autograd.profiler.emit_itt():\n"
              "    torch.ones(2) + 1\n"
              "torch.profiler.itt.range_push('outer'); torch.profiler.itt.range_push('inner')\n"
              "torch.profiler.itt.range_pop(); torch.profiler.itt.range_pop()\n"
              "torch.profiler.itt.range_pop()\n")
    tap("run", "-o", "a.gputap", "--", torch_python, "-c", script)
    names = tap("report", "--csv", "-t", "ranges", "a.gputap").out
    assert "aten::add" in names and "aten::ones" in names
    inside = tap("report", "--csv", "-t", "ranges", "--where", "range=outer", "a.gputap").out
    assert [r["name"] for r in csv.DictReader(io.StringIO(inside))] in (["outer", "inner"],
                                                                       ["inner", "outer"])


OPEN_TASK = """
import ctypes, os, threading
itt = ctypes.CDLL(os.environ['INTEL_LIBITTNOTIFY64'])
class Id(ctypes.Structure):
    _fields_ = [(d, ctypes.c_uint64) for d in ('d1', 'd2', 'd3')]
itt.__itt_domain_create.restype = itt.__itt_string_handle_create.restype = ctypes.c_void_p
itt.__itt_task_begin.argtypes = [ctypes.c_void_p, Id, Id, ctypes.c_void_p]
itt.__itt_task_end.argtypes = [ctypes.c_void_p]
domain, name = itt.__itt_domain_create(b'tbb'), itt.__itt_string_handle_create(b'task')
def begin():
    itt.__itt_task_begin(domain, Id(), Id(), name)
begin()
itt.__itt_task_end(domain)
thread = threading.Thread(target=begin)
thread.start(), thread.join(), begin()
"""


def test_a_range_that_is_open_when_the_program_ends_is_not_lost(tap, work):
    """oneTBB starts ITT tasks in threads that end with the process."""
    end = tap("run", "-o", "a.gputap", "--", sys.executable, "-c", OPEN_TASK).err
    assert ", nothing lost, 2 ranges open at the end" in end
    assert "nothing lost, 2 ranges open at the end" in tap("report", "a.gputap").out
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert (info["seen"], info["recorded"], info["dropped"]) == (3, 1, 2)
    loss = json.loads(tap("report", "--json", "a.gputap").out)["loss"]
    assert [(row["reason"], row["dropped"]) for row in loss] == [("unfinished", 2)]


def test_ranges_that_torch_emits_by_nvtx_are_recorded_without_the_package(tap, run, torch_python,
                                                                          work):
    has = "import torch; print(hasattr(torch._C, '_nvtx'))"
    if run([torch_python, "-c", has]).out != "True\n":
        pytest.skip("needs PyTorch built for CUDA")
    script = ("import torch\nfrom torch.cuda import nvtx\n"  # emit_nvtx() needs a GPU
              "nvtx.range_push('outer')\none = nvtx.range_start('one')\n"
              "nvtx.mark('here')\nnvtx.range_pop()\nnvtx.range_end(one)\n")
    tap("run", "-o", "a.gputap", "--", torch_python, "-W", "ignore", "-c", script)
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert info["seen"] == info["recorded"] == 4
    rows = csv.DictReader(io.StringIO(tap("report", "--csv", "-t", "ranges", "a.gputap").out))
    assert {r["name"] for r in rows} == {"outer", "one", "here"}


def test_a_library_that_the_user_gives_itt_and_nvtx_stays(tap):
    given = {"INTEL_LIBITTNOTIFY64": "/theirs", "NVTX_INJECTION64_PATH": "/mine"}
    told = tap("run", "-q", "-f", "-o", "a.gputap", "--", "env", env=given).out.split("\n")
    assert "INTEL_LIBITTNOTIFY64=/theirs" in told and "NVTX_INJECTION64_PATH=/mine" in told


@pytest.mark.skipif("GPUTAP_NVTX" not in os.environ,
                    reason="needs NVIDIA's nvtx for Python: GPUTAP_NVTX names its folder")
def test_ranges_of_nvtx_are_recorded(tap, torch_python, work):
    script = ("import nvtx\nwith nvtx.annotate('outer'):\n"
              "    with nvtx.annotate('inner', domain='mine'): pass\n"
              "nvtx.push_range('pushed'); nvtx.pop_range(); nvtx.pop_range()\n")
    tap("run", "-o", "a.gputap", "--", torch_python, "-c", script,
        env={"PYTHONPATH": os.environ["GPUTAP_NVTX"]})
    rows = tap("report", "--csv", "-t", "ranges", "a.gputap").out
    assert {r["name"] for r in csv.DictReader(io.StringIO(rows))} == {"outer", "inner", "pushed"}
    inside = tap("report", "--csv", "-t", "ranges", "--where", "range=outer", "a.gputap").out
    assert {r["name"] for r in csv.DictReader(io.StringIO(inside))} == {"outer", "inner"}


def test_torchs_own_profiler_sees_what_it_sees_without_us(train):
    result, ranges = train("profile")
    assert result.out.split()[0] == "6" and count(ranges, "aten::linear") == 6


def test_operators_can_be_left_out(train):
    assert [n for o, n, _ in train(env=NEVER)[1] if o != "range_user"] == []


def test_a_package_for_another_torch_says_so_in_one_line(train, torch_package, torch_version,
                                                         tmp_path):
    site = tmp_path / "other"
    subprocess.run(["cp", "-r", torch_package["PYTHONPATH"], site], check=True)
    (site / "gputap/_shim/built.py").write_text("VERSION = '2.10.0'\nNUMBERS = (2, 10, 0)\n")
    result, ranges = train(env={"PYTHONPATH": site})
    assert "built for torch 2.10.0, but this torch is %d.%d:" % torch_version[:2] in result.err
    assert [n for o, n, _ in ranges if o != "range_user"] == []


def test_the_capture_names_torch_and_its_version(train, tap, torch_version):
    train()
    assert "libtorch_cpu.so" in (info := tap("info", "a.gputap").out)
    assert "%d.%d.%d" % torch_version in info


def test_without_gputap_the_package_costs_nothing_and_says_nothing(run, torch_python,
                                                                   torch_package):
    script = "import torch, sys; print('gputap.torch' in sys.modules)"
    result = run([torch_python, "-c", script], env=torch_package)
    assert result.out == "False\n" and result.err == ""
