# SPDX-License-Identifier: MIT
"""Test programs that restrict their own system calls, or whose last thread exits. They end under
gputap as they do without it."""

import json
import subprocess

import pytest

import conftest
from processes import Tree


@pytest.fixture
def tree(build, work):
    return Tree(build)


@pytest.fixture
def program(build):
    return build / "tests/core/seccomp"


def run_bare(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], timeout=600).returncode


def events(tap):
    found = json.loads(tap("info", "c.gputap", "--json").out)
    return [e["text"] for e in found["events"]]


WAYS = [("strict", 0), ("strict", 5), ("thread", 0), ("thread", 5), ("prctl", 0), ("prctl", 5),
        ("leave", 0), ("leave", 5), ("tsc", 5)]


@pytest.mark.parametrize("what, before", WAYS)
def test_a_program_ends_as_it_ends_without_gputap(tree, program, what, before):
    """If the filter kills only one thread and the other threads have ended, gputap's own thread
    must not keep the process alive."""
    bare = run_bare(program, what, before)
    result = tree.run(what, before, program=program, options=["-q"], status=None, timeout=120)
    assert result.status == bare, result


@pytest.mark.parametrize("before", [0, 5])
def test_a_filter_that_kills_for_prctl_leaves_all_calls_recorded(tree, program, before):
    tree.run("prctl", before, program=program)
    (process,) = tree.read()["processes"]
    assert process["calls"] == before + 10


def test_a_filter_of_the_program_that_executed_it_is_known(tree, program):
    """gputap must not query the filter, because the filter may kill the program even for a
    query."""
    tree.run("exec", tree.caller, "calls:3", "exit:4", program=program, status=4)
    assert sum(p["calls"] for p in tree.read()["processes"]) == 4


def test_calls_in_strict_mode_are_not_recorded_and_that_is_said(tree, tap, program):
    tree.run("strict", 5, program=program, options=["-q"], status=None)
    (process,) = tree.read()["processes"]
    assert process["calls"] == 5 and process["count_calls"]["seen"] == 5
    assert [t for t in events(tap) if "seccomp's strict mode" in t] != []


def test_the_time_stamp_counter_may_be_disabled(tree, tap, program):
    tree.run("tsc", 5, program=program)
    if not [t for t in events(tap) if "time stamp counter" in t]:
        (process,) = tree.read()["processes"]
        assert process["calls"] == 10  # gputap reads another clock here


def test_a_last_thread_that_leaves_runs_the_exit_handlers(tree, run, work):
    (work / "program.c").write_text("""
        #include <CL/cl.h>
        #include <pthread.h>
        #include <stdio.h>
        #include <stdlib.h>
        static void at_end(void) { puts("at the end"); }
        static void *work(void *arg) { return arg; }
        int main(void)
        {
            cl_uint n;
            pthread_t t;
            atexit(at_end);
            clGetPlatformIDs(0, NULL, &n);
            if (pthread_create(&t, NULL, work, NULL)) return 1;
            pthread_exit(NULL);
        }
    """)
    run(["gcc", "-w", "-DCL_TARGET_OPENCL_VERSION=120", "-o", "program", "program.c", "-lOpenCL",
         "-lpthread"])
    bare = run(["./program"])
    result = tree.run(program=work / "program", options=["-q"], timeout=120)
    assert (result.out, result.err) == (bare.out, "") == ("at the end\n", "")
