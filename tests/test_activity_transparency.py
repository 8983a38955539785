# SPDX-License-Identifier: MIT
"""Test that programs cannot detect tracing: every query returns the same answer with and without
gputap."""

import pytest

from rings import Session


@pytest.mark.parametrize("program", [
    ["cl_probe"],
    ["cl_basic", "3"],
    ["cl_everything"],
    ["cl_commands"],
    ["cl_sub_devices"],
    ["cl_threads", "3", "100"],
    *(["cl_ways_to_end", way] for way in ("early_release", "no_finish", "never", "out_of_order",
                                          "forked", "many_queues", "exit_handler")),
],
                         ids=" ".join)
def test_output_is_the_same(build, run, program):
    command = [build / "tests/opencl" / program[0], *program[1:]]
    bare = run(command)
    with Session(build) as session:
        traced = session.run(command)
    assert bare.out
    assert traced.out == bare.out
    assert traced.err == bare.err


def test_events_without_profiling_get_the_answers_of_their_own_runtime(build, run):
    command, layer = [build / "tests/opencl/cl_probe"], build / "tests/opencl/libfault_layer.so"
    bare = run(command, env={"FAULT": "unprofiled", "OPENCL_LAYERS": layer})
    with Session(build) as session:
        layers = f"{layer}:{session.library}"
        traced = session.run(command, env={"FAULT": "unprofiled", "layers": layers})
    assert "queue 0 profiling 1283 size 8: 0 4 set 0" in bare.out
    assert traced.out == bare.out


@pytest.mark.parametrize("arguments", [[], ["--raw"], ["--list"]], ids=str)
def test_clinfo_says_the_same(build, run, arguments):
    bare = run(["clinfo", *arguments])
    with Session(build) as session:
        traced = session.run(["clinfo", *arguments])
    assert bare.out and traced.out == bare.out and traced.err == bare.err


def test_a_program_with_profiling_of_its_own_gets_its_times(build, run):
    command = [build / "tests/opencl/cl_probe"]
    with Session(build) as session:
        out = session.run(command).out
    assert "queue 2 profiling 1283 size 8: 0 8 set 0" in out
    assert "queue 0 profiling 1283 size 8: 0" not in out
