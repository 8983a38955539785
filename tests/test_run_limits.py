# SPDX-License-Identifier: MIT
"""Test programs with a limited address space. gputap's libraries must leave enough space for the
program."""

import json
import resource

import pytest

PROGRAM = """
#include <CL/cl.h>
#include <stdio.h>
int main(void)
{
	cl_platform_id p;
	cl_device_id d;
	cl_int error = 0;

	if (clGetPlatformIDs(1, &p, NULL) || clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, NULL) ||
	    !clCreateContext(NULL, 1, &d, NULL, NULL, &error) || error)
		return 1;
	puts("good");
	return 0;
}
"""
WHY = "its address space is limited (RLIMIT_AS)"
LEAVES_NO_ROOM, LEAVES_ROOM = 320 << 20, 4 << 30
BARE_RUNS = 20


@pytest.fixture
def program(run, work):
    (work / "program.c").write_text(PROGRAM)
    run(["gcc", "-w", "-DCL_TARGET_OPENCL_VERSION=120", "-o", "program", "program.c", "-lOpenCL"])
    return work / "program"


def run_limited(tap, way, limit, program):
    command = f"ulimit -v {limit >> 10}; exec {program}"
    if way == "in the tree":
        return tap("run", "-q", "-o", "c.gputap", "--", "sh", "-c", command, status=None)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        return tap("run", "-o", "c.gputap", "--", program, status=None)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.mark.parametrize("way", ["from the start", "in the tree"])
def test_a_program_with_little_address_space_runs_without_gputap_and_is_named(
        run, tap, program, way):
    result = run_limited(tap, way, LEAVES_NO_ROOM, program)
    # PoCL fits into the space in most runs, but not in all
    for _ in range(BARE_RUNS):
        bare = run(["sh", "-c", f"ulimit -v {LEAVES_NO_ROOM >> 10}; exec {program}"], status=None)
        if (result.status, result.out) == (bare.status, bare.out):
            break
    assert (result.status, result.out) == (bare.status, bare.out), result
    found = json.loads(tap("info", "c.gputap", "--json").out)
    (event,) = [e for e in found["events"] if e["event"] == "not traced"]
    assert event["text"].startswith(f"{program}: {WHY}") and "ulimit -v" in event["text"]
    assert found["complete"] is False
    if way == "from the start":
        assert f"program cannot be traced because {WHY}" in " ".join(result.err.split())


@pytest.mark.parametrize("way", ["from the start", "in the tree"])
def test_a_limit_that_leaves_room_changes_nothing(tap, program, way):
    result = run_limited(tap, way, LEAVES_ROOM, program)
    assert (result.status, result.out) == (0, "good\n"), result
    found = json.loads(tap("info", "c.gputap", "--json").out)
    assert found["events"] == [] and sum(p["seen"] for p in found["processes"]) > 0


def test_no_variable_brings_a_library_into_a_program_with_little_address_space(tap, run, work):
    """Neither the runtimes' own variables nor those of ITT and NVTX are set."""
    shown = tap("run", "-q", "-o", "c.gputap", "--", "sh", "-c",
                f"ulimit -v {LEAVES_NO_ROOM >> 10}; exec /usr/bin/env").out
    assert [x for x in shown.splitlines() if "libgputap" in x and "GPUTAP_" not in x] == []
    theirs = tap("run", "-q", "-f", "-o", "c.gputap", "--", "sh", "-c",
                 f"ulimit -v {LEAVES_NO_ROOM >> 10};"
                 " LD_PRELOAD=$LD_PRELOAD:libm.so.6 exec /usr/bin/env").out
    assert "LD_PRELOAD=libm.so.6" in theirs.splitlines()
