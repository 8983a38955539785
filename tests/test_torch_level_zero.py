# SPDX-License-Identifier: MIT
"""Test Level Zero activities in torch.profiler that a torch program submits through its own
library, under `gputap run`. The bridge and the capture agree."""
import ctypes.util
import json
import subprocess
import textwrap

import pytest

from test_level_zero import HEADERS

PROGRAM = """
import ctypes, json, sys
import gputap.torch, torch
from torch.profiler import record_function
program = ctypes.CDLL(sys.argv[1])
words = (ctypes.c_char_p * 3)(b'program', b'immediate', b'3')

with gputap.torch.profile() as p:
    with record_function('mine'):
        assert program.lz_main(3, words) == 0
print(json.dumps({e.key: [e.count, e.self_device_time_total] for e in p.key_averages()}))
p.export_chrome_trace('level_zero.json')
"""


@pytest.fixture(scope="session")
def libraries(repo, tmp_path_factory):
    if not (HEADERS / "ze_ddi.h").exists() or not ctypes.util.find_library("ze_loader"):
        pytest.skip("needs Level Zero: apt install libze-dev")
    folder = tmp_path_factory.mktemp("level_zero")
    source = repo / "tests/level_zero"
    subprocess.run([
        "cc", "-O1", "-shared", "-fPIC", "-pthread", source / "lz_driver.c", "-o",
        folder / "liblz_driver.so"
    ],
                   check=True)
    subprocess.run([
        "cc", "-O1", "-shared", "-fPIC", "-Dmain=lz_main", source / "lz_program.c", "-o",
        folder / "liblz_program.so", "-ldl", "-lze_loader"
    ],
                   check=True)
    return folder


def test_kernels_of_level_zero_have_the_range_that_they_were_submitted_in(
        tap, torch_python, torch_package, build, libraries, work):
    result = tap("run", "-q", "-o", "t.gputap", torch_python, "-c", textwrap.dedent(PROGRAM),
                 libraries / "liblz_program.so",
                 env={**torch_package, "GPUTAP_LIBRARIES": f"{build}:{build}/src/plugin",
                      "ZE_ENABLE_ALT_DRIVERS": libraries / "liblz_driver.so"})
    (rows, ) = [json.loads(line) for line in result.out.splitlines() if line[:1] == "{"]
    trace = json.loads((work / "level_zero.json").read_text())["traceEvents"]
    kernels = [e for e in trace if e.get("cat") == "kernel"]
    report = json.loads(tap("report", "--json", "t.gputap").out)
    assert len(kernels) == sum(k["count"] for k in report["kernels"]) > 0
    assert {e["name"] for e in kernels} == {k["name"] for k in report["kernels"]}
    names = {e["args"]["External id"]: e["name"] for e in trace
             if e.get("cat") in ("cpu_op", "user_annotation")}
    assert {names[e["args"]["External id"]] for e in kernels} == {"mine"}
    assert rows["mine"][1] > 0
