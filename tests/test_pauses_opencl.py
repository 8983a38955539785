# SPDX-License-Identifier: MIT
"""Test roctxProfilerPause() with OpenCL's GPU activities: tests/opencl/cl_pauses.c enqueues before,
during and after a pause."""

import collections
import csv
import json
import subprocess

import pytest


@pytest.fixture(scope="module")
def program(tmp_path_factory, repo, build):
    path, roctx = tmp_path_factory.mktemp("pauses") / "cl_pauses", build / "src/compat/roctx"
    subprocess.run([
        "cc", "-O1", "-Wall", f"-I{repo}/include", repo / "tests/opencl/cl_pauses.c", "-o", path,
        "-lOpenCL", f"-L{roctx}", "-l:libroctx64.so.4", f"-Wl,-rpath,{roctx}"
    ],
                   check=True)
    return path


@pytest.mark.parametrize("mode, reads", [("hip", 1), ("standard", 1), ("lite", 0)])
def test_nothing_that_is_enqueued_in_a_pause_is_recorded_and_what_was_before_is(
        program, tap, work, mode, reads):
    assert tap("run", "-q", "-o", "a.gputap", "--mode", mode, "--", program).out == "1213\n"
    tap("export", "a.gputap", "-o", "a.csv")
    with open("a.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert info["seen"] == info["recorded"] and not info["dropped"], info
    found = collections.Counter(r["name"] if r["operation"] == "kernel" else r["operation"]
                                for r in rows
                                if r["kind"] == "device")
    assert found == collections.Counter({
        "before": 5, "held": 1, "after": 7, "memcpy D2H": reads, "memcpy H2D": reads}), found
