# SPDX-License-Identifier: MIT
"""Test roctxProfilerPause() with GPU activities: tests/hip/pauses.hip launches before, during and
after a pause."""

import collections
import csv
import json
import shutil
import subprocess

import pytest

TOTAL = 5 + 100 + 2 * 3000 + 7 + 3 * 4


@pytest.fixture(scope="module")
def program(tmp_path_factory, repo, build, hip_headers):
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    path, roctx = tmp_path_factory.mktemp("pauses") / "pauses", build / "src/compat/roctx"
    subprocess.run([
        "hipcc", "--offload-arch=gfx906", "-O1", "-w", f"-I{repo}/include", "-o", path,
        repo / "tests/hip/pauses.hip", f"-L{roctx}", "-l:libroctx64.so.4", f"-Wl,-rpath,{roctx}"
    ],
                   check=True)
    return path


@pytest.fixture
def traced(program, softgpu, tap, work):
    """Return a function: go() returns the number of GPU activities per kernel name or operation,
    and the rows of the CSV export."""
    def go(*words, options=(), **environment):
        assert tap("run",
                   "-q",
                   "-o",
                   "a.gputap",
                   *options,
                   "--",
                   program,
                   *words,
                   env={**softgpu, **environment}).out == f"{TOTAL}\n"
        tap("export", "a.gputap", "-o", "a.csv")
        with open("a.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        info = json.loads(tap("info", "--json", "a.gputap").out)
        assert info["seen"] == info["recorded"] + info["dropped"] and not info["dropped"], info
        work_of = collections.Counter(r["name"] if r["operation"] == "kernel" else r["operation"]
                                      for r in rows
                                      if r["kind"] == "device")
        return work_of, rows
    return go


KERNELS = {"before": 5, "gate": 1, "after": 7}
LAUNCHES = 5 + 1 + 7 + 4  # four launches are graph-captured


@pytest.mark.parametrize("words", [(), ("threads",)])
def test_nothing_that_is_launched_in_a_pause_is_recorded_and_what_was_launched_before_is(
        traced, words):
    found, rows = traced(*words)
    assert {**KERNELS, "node": 8} == {
        n: found[n] for n in found if n in (*KERNELS, "within", "node")
    }, found
    launches = [r for r in rows if r["operation"] == "hipLaunchKernel"]
    assert len(launches) == LAUNCHES and len(
        [r for r in rows if r["operation"] == "hipGraphLaunch"]) == 2
    calls = {r["correlation"] for r in rows if r["kind"] == "call"}
    # each activity is linked to a recorded call
    assert all(r["correlation"] in calls for r in rows if r["kind"] == "device")


def test_copies_and_fills_of_a_pause_are_not_recorded(traced):
    found, rows = traced()
    moved = [
        r for r in rows
        if r["kind"] == "call" and r["operation"] in ("hipMemcpyAsync", "hipMemsetAsync",
                                                      "hipMemcpy", "hipMemset")
    ]
    assert len(moved) == 2 * 3 + 2
    assert found["memcpy H2D"] == 2 and found["memcpy D2H"] == 3 and found["memset"] == 3, found


@pytest.mark.parametrize("mode, graphs", [("lite", {"node": 0}), ("standard", {"node": 8}),
                                          ("hsa", {"node": 8})])
def test_a_pause_holds_in_every_mode(traced, mode, graphs):
    found, rows = traced(options=("--mode", mode))
    assert {**KERNELS, **{n: c for n, c in graphs.items() if c}} == {
                n: found[n] for n in found if n in (*KERNELS, "within", "node")
            }, found
    if mode == "lite":
        assert found["graph"] == 2, found
    if mode == "hsa":
        ours = [r for r in rows if r["kind"] == "call" and r["operation"] == "hipLaunchKernel"]
        assert len(ours) == LAUNCHES


def test_what_threads_of_the_runtime_submit_belongs_to_the_side_that_its_call_was_on(traced):
    found, _ = traced(AMD_DIRECT_DISPATCH="0")
    assert {**KERNELS, "node": 8} == {
        n: found[n] for n in found if n in (*KERNELS, "within", "node")
    }, found
    assert found["memcpy H2D"] == 2 and found["memcpy D2H"] == 3, found
