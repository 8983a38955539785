# SPDX-License-Identifier: MIT
"""Test programs with a limited address space. gputap's libraries must leave enough space for the
program."""

import json
import resource
import struct

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
PLAIN = """
#include <stdio.h>
int main(void)
{
	puts("good");
	return 0;
}
"""
PT_LOAD, SHARE, RESERVED_MOST = 1, 8, 4 << 20
WHY = "its address space is limited (RLIMIT_AS)"
LEAVES_ROOM = 4 << 30


def segments(library):
    """Return (address, bytes in the file, bytes in memory) of each segment that is mapped."""
    data = library.read_bytes()
    first, = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    found = [struct.unpack_from("<I4xQQQQQ", data, first + i * size) for i in range(count)]
    return [(address, stored, mapped) for kind, _, address, _, stored, mapped in found
            if kind == PT_LOAD]


@pytest.fixture
def no_room(build):
    """Return a limit of the address space in which a program runs without gputap's library."""
    library = segments(build / "libgputap.so.0")
    return SHARE // 2 * max(address + mapped for address, _, mapped in library)


@pytest.fixture
def plain(run, work):
    (work / "plain.c").write_text(PLAIN)
    run(["gcc", "-o", "plain", "plain.c"])
    return work / "plain"


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


def test_a_program_with_little_address_space_runs_without_gputap_and_is_named(tap, plain, no_room):
    result = run_limited(tap, "in the tree", no_room, plain)
    assert (result.status, result.out) == (0, "good\n"), result
    found = json.loads(tap("info", "c.gputap", "--json").out)
    (event,) = [e for e in found["events"] if e["event"] == "not traced"]
    assert event["text"].startswith(f"{plain}: {WHY}") and "ulimit -v" in event["text"]
    assert found["complete"] is False


def test_the_library_reserves_little_memory_for_tables_that_few_processes_use(build):
    """Large tables are mapped at their first use (util/zeroed.h)."""
    assert max(mapped - stored for _, stored, mapped in segments(build / "libgputap.so.0")) \
        < RESERVED_MOST


@pytest.mark.parametrize("way", ["from the start", "in the tree"])
def test_a_limit_that_leaves_room_changes_nothing(tap, program, way):
    result = run_limited(tap, way, LEAVES_ROOM, program)
    assert (result.status, result.out) == (0, "good\n"), result
    found = json.loads(tap("info", "c.gputap", "--json").out)
    assert found["events"] == [] and sum(p["seen"] for p in found["processes"]) > 0


def test_no_variable_brings_a_library_into_a_program_with_little_address_space(tap, no_room):
    """Neither the runtimes' own variables nor those of ITT and NVTX are set."""
    shown = tap("run", "-q", "-o", "c.gputap", "--", "sh", "-c",
                f"ulimit -v {no_room >> 10}; exec /usr/bin/env").out
    assert [x for x in shown.splitlines() if "libgputap" in x and "GPUTAP_" not in x] == []
    theirs = tap("run", "-q", "-f", "-o", "c.gputap", "--", "sh", "-c",
                 f"ulimit -v {no_room >> 10};"
                 " LD_PRELOAD=$LD_PRELOAD:libm.so.6 exec /usr/bin/env").out
    assert "LD_PRELOAD=libm.so.6" in theirs.splitlines()
