# SPDX-License-Identifier: MIT
"""Test HIP activities in torch.profiler that a torch program launches through its own library on
the software AMD GPU. The torch wheel need not support HIP."""
import json
import shutil
import subprocess
import textwrap

import pytest

PROGRAM = """
import ctypes, json, sys
import gputap.torch, torch
from torch.profiler import record_function
hip = ctypes.CDLL(sys.argv[1])

def launch(x, times):
    assert hip.hip_twice(ctypes.c_void_p(x.data_ptr()), x.numel(), times) == 0
    return x

@torch.library.custom_op('gputap_test::twice', mutates_args=())
def twice(x: torch.Tensor, times: int) -> torch.Tensor:
    return launch(x.clone(), times)

x = torch.arange(100.)
with gputap.torch.profile() as p:
    for _ in range(3):
        y = twice(x, 2)
    with record_function('mine'):
        launch(x.clone(), 1)
assert torch.equal(y, 4 * x)
print(json.dumps({e.key: [e.count, e.self_device_time_total] for e in p.key_averages()}))
print(json.dumps(gputap.torch.counts()))
p.export_chrome_trace('hip.json')
"""


@pytest.fixture(scope="session")
def library(repo, hip_headers, tmp_path_factory):
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    out = tmp_path_factory.mktemp("hip") / "twice.so"
    subprocess.run([
        "hipcc", "--offload-arch=gfx906", "-O1", "-shared", "-fPIC", repo / "tests/hip/twice.hip",
        "-o", out
    ], check=True)
    return out


def test_hip_kernels_have_the_device_time_of_their_operator(run, torch_python, torch_package,
                                                           build, softgpu, library, work):
    out = run([torch_python, "-c", textwrap.dedent(PROGRAM), library],
              env={**torch_package, **softgpu,
                   "GPUTAP_LIBRARIES": f"{build}:{build}/src/plugin"}).out
    rows, counts = [json.loads(line) for line in out.splitlines() if line[:1] == "{"]
    trace = json.loads((work / "hip.json").read_text())["traceEvents"]
    kernels = [e for e in trace if e.get("cat") == "kernel"]
    assert kernels and not [e["name"] for e in kernels if e["name"].startswith("_Z")]  # demangled
    copies = [e for e in trace if e.get("cat") == "gpu_memcpy"]
    assert len(kernels) == 3 * 2 + 1 and len(copies) == 2 * (3 + 1)
    assert all(e["args"]["grid"] == [2, 1, 1] and e["args"]["block"] == [64, 1, 1]
               for e in kernels)
    names = {e["args"]["External id"]: e["name"] for e in trace
             if e.get("cat") in ("cpu_op", "user_annotation")}
    work_of = lambda name: sum(e["dur"] for e in kernels + copies  # noqa: E731
                               if names[e["args"]["External id"]] == name)
    for name in ("gputap_test::twice", "mine"):
        assert work_of(name) > 0 and abs(rows[name][1] - work_of(name)) < 0.01
    calls = [e["name"] for e in trace if e.get("cat") == "cuda_runtime"]
    assert calls.count("hipLaunchKernel") == len(kernels)
    assert not [name for name in calls if name.startswith("hsa_")]  # no nested calls
    assert sorted(e["ph"] for e in trace if e.get("cat") == "ac2g") == ["f"] * 15 + ["s"] * 15
    assert counts["unlinked"] == counts["outside"] == counts["lost"] == counts["unfinished"] == 0
