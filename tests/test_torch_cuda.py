# SPDX-License-Identifier: MIT
"""Test CUDA activities in torch.profiler that gputap's bridge delivers instead of Kineto. A library
of the program uses the software driver under `gputap run`."""
import json
import subprocess
import textwrap

import pytest

PROGRAM = """
import ctypes, json, sys
import gputap.torch, torch
from torch.profiler import profile, record_function, ProfilerActivity
program = ctypes.CDLL(sys.argv[1])
words = (ctypes.c_char_p * 4)(b'program', sys.argv[2].encode(), b'work', b'3')
x = torch.ones(3)

def work(name):
    with record_function(name):
        x.add_(1)
        assert program.cuda_main(4, words) == 0

def show(p, file):
    p.export_chrome_trace(file)
    print(json.dumps({e.key: [e.count, e.self_device_time_total] for e in p.key_averages()}))

both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
with gputap.torch.profile(activities=both, cuda=True) as p:
    work('mine')
show(p, 'asked.json')
print(json.dumps(gputap.torch.counts()))
with gputap.torch.profile() as p:
    work('by default')
show(p, 'default.json')
with profile(activities=[ProfilerActivity.CPU]) as p:
    work("torch's own")
show(p, 'own.json')
"""
# counts of one work()
WORK = {
    "add_numbers": 3, "Memset (Device)": 3, "Memcpy HtoD (Pageable -> Device)": 3,
    "Memcpy DtoH (Device -> Pageable)": 3
}


@pytest.fixture(scope="session")
def libraries(repo, build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("torch_cuda")
    common = ["cc", "-O1", "-shared", "-fPIC", f"-I{repo}"]
    for command in ([*common, repo / "tests/cuda/driver_kernels.c", "-o", folder / "kernels.so"], [
            *common, "-Dmain=cuda_main", repo / "tests/cuda/report_program.c", "-o",
            folder / "program.so", build / "soft/cuda/libcuda.so.1"
    ]):
        subprocess.run(list(map(str, command)), check=True)
    return folder


@pytest.fixture
def profiles(run, gputap, torch_python, torch_package, build, libraries, work):
    # pylint: disable=unused-argument
    def call(**environment):
        done = run([
            gputap, "run", "-q", "-o", "t.gputap", "--", gputap, "soft", "cuda", "--", torch_python,
            "-c", textwrap.dedent(PROGRAM), libraries / "program.so", libraries / "kernels.so"
        ], env={**torch_package, "GPUTAP_LIBRARIES": f"{build}:{build}/src/plugin", **environment})
        return [json.loads(line) for line in done.out.splitlines() if line[:1] == "{"]
    return call


def device_work(rows):
    return {name: row[0] for name, row in rows.items() if name in WORK}


def test_a_profile_takes_cudas_work_from_gputap_if_asked(profiles, tap, work):
    asked, counts, default, own = profiles()
    assert device_work(asked) == WORK
    assert device_work(default) == device_work(own) == {}
    assert counts["lost"] == counts["unlinked"] == counts["unfinished"] == 0
    assert asked["mine"][1] > 0 and asked["add_numbers"][1] > 0
    trace = json.loads((work / "asked.json").read_text())["traceEvents"]
    names = {e["args"]["External id"]: e["name"] for e in trace
             if e.get("cat") in ("cpu_op", "user_annotation")}
    calls = {e["args"]["correlation"]: e["name"] for e in trace if e.get("cat") == "cuda_driver"}
    kernels = [e for e in trace if e.get("cat") == "kernel"]
    assert {names[e["args"]["External id"]] for e in kernels} == {"mine"}
    assert {calls[e["args"]["correlation"]] for e in kernels} == {"cuLaunchKernel"}
    assert {(e["pid"], e["args"]["device"], *e["args"]["grid"], *e["args"]["block"])
            for e in kernels} == {(0, 0, 4, 1, 1, 256, 1, 1)}
    assert {"gputap software CUDA device"} <= {
        e["args"]["name"] for e in trace if e["name"] == "process_name"}
    # the capture has all three activities, under the range in which they were submitted
    rows = json.loads(tap("report", "--json", "--by", "range", "t.gputap").out)["gpu_by_range"]
    assert {row["name"]: row["activities"] for row in rows if row["activities"]} == {
        "mine": 12, "by default": 12, "torch's own": 12}


def test_all_profiles_take_it_if_the_environment_says_so(profiles):
    asked, _, default, own = profiles(GPUTAP_TORCH_CUDA=1)
    assert device_work(asked) == device_work(default) == device_work(own) == WORK
