# SPDX-License-Identifier: MIT
"""Test triggers on records that do not come: no progress, a device without activity, a call that
does not return. The programs are real OpenCL programs on PoCL."""

import json
import re
import subprocess

import pytest

from processes import Tree

PROGRAM = r"""
#include <CL/cl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned ms;

static void *complete(void *user)
{
    usleep(ms * 1000);
    clSetUserEventStatus(user, CL_COMPLETE);
    return NULL;
}

/* Steps: f: fill a buffer and wait; sleep:MS; wait:MS: in clFinish; run:MS: a command is in flight,
 * while the thread is outside any call. */
int main(int argc, char **argv)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_uint zero = 0;
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
    for (int i = 1; i < argc; i++) {
        char *colon = strchr(argv[i], ':');
        ms = colon ? atoi(colon + 1) : 0;
        if (!strncmp(argv[i], "sleep", 5)) {
            usleep(ms * 1000);
        } else if (*argv[i] == 'f') {
            clEnqueueFillBuffer(queue, memory, &zero, 4, 0, 4096, 0, NULL, NULL);
            clFinish(queue);
        } else {
            pthread_t thread;
            cl_event user = clCreateUserEvent(context, NULL);
            clEnqueueFillBuffer(queue, memory, &zero, 4, 0, 4096, 1, &user, NULL);
            pthread_create(&thread, NULL, complete, user);
            if (*argv[i] == 'r')
                pthread_join(thread, NULL);
            clFinish(queue);
            if (*argv[i] != 'r')
                pthread_join(thread, NULL);
        }
    }
    return 0;
}
"""


@pytest.fixture
def program(work):
    (work / "steps.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-w", "-DCL_TARGET_OPENCL_VERSION=120", "-o", "steps", "steps.c",
                    "-lOpenCL", "-pthread"], check=True)
    return work / "steps"


@pytest.fixture
def snapshots(build, work, gputap):
    """Run the program, and return the reasons of the snapshots."""
    def run(program, trigger, *steps, options=()):
        Tree(build).run(*steps, program=program, options=["-f", "--trigger", trigger, *options])
        reasons = []
        for path in sorted(work.glob("c.*.gputap")):
            out = subprocess.run([gputap, "info", "--json", path], stdout=subprocess.PIPE)
            reasons.append(json.loads(out.stdout)["retained"]["what"])
        return reasons
    return run


@pytest.mark.parametrize("trigger", ["open > 300 ms and name=clFinish",
                                     "name=clF* and open>=300ms"])
def test_a_call_that_does_not_return_triggers_once(program, snapshots, trigger):
    (what,) = snapshots(program, trigger, "f", "wait:1500", "f")
    assert re.fullmatch(r"clFinish is open for (\d+ ms|1\.\d\d s) in thread \d+ of process \d+",
                        what)


def test_the_snapshot_of_an_open_call_is_taken_while_the_call_is_open(program, snapshots, gputap,
                                                                     work):
    snapshots(program, "open>200ms", "f", "wait:1500", options=["--keep-after", "0"])
    out = subprocess.run([gputap, "report", "--json", "-t", "operations", "c.1.gputap"],
                         stdout=subprocess.PIPE)
    (row,) = [r for r in json.loads(out.stdout)["operations"] if r["name"] == "clFinish"]
    assert row["calls"] == 1


@pytest.mark.parametrize("trigger", ["open>300ms and name=clWaitForEvents",
                                     "open>300ms and not process=steps", "open>10s"])
def test_other_calls_do_not_trigger(program, snapshots, trigger):
    assert snapshots(program, trigger, "f", "wait:1000") == []


def test_silence_triggers_and_names_what_the_thread_does(program, snapshots):
    (what,) = snapshots(program, "no progress for 500ms", "f", "sleep:2500", "f")
    assert re.fullmatch(r"no record for (\d+ ms|[12]\.\d\d s): process \d+, thread \d+ is outside "
                        r"any call for .*s, after clFinish", what)


def test_silence_in_a_call_names_the_call(program, snapshots):
    (what,) = snapshots(program, "no progress for 500ms", "f", "wait:2500", "f")
    assert re.search(r"thread \d+ is in clFinish", what)


def test_each_silence_triggers_once(program, snapshots):
    assert len(snapshots(program, "no progress for 400ms", "f", "sleep:2500", "f",
                         "sleep:2500")) == 2


def test_progress_does_not_trigger(program, snapshots):
    steps = ["f", "sleep:100"] * 15
    assert snapshots(program, "no progress for 1500ms", *steps) == []


def test_a_device_without_activity_triggers_while_it_is_idle(program, snapshots):
    (what,) = snapshots(program, "gap>300ms", "f", "sleep:3000")
    assert re.match(r"device \d+ \(opencl\) had no activity of process \d+ for .*: thread \d+ is "
                    r"outside any call for .*, after clFinish", what)


def test_a_gap_between_activities_triggers_once(program, snapshots):
    (what,) = snapshots(program, "gap>200ms", "f", "f", "sleep:400", "f", "f", "sleep:50")
    assert re.match(r"device \d+ \(opencl\) had no activity of process \d+ for \d+ ms", what)


def test_an_activity_in_flight_is_no_gap(program, snapshots):
    assert snapshots(program, "gap>10s", "f", "run:500") == []
    assert snapshots(program, "gap>900ms and domain=cuda_driver", "f", "sleep:1500") == []


def test_a_paused_session_has_no_silence(program, build, gputap, work):
    Tree(build).run("f", "sleep:1500", program=program,
                    options=["--duration", "200ms", "--trigger", "no progress for 600ms"])
    assert not list(work.glob("c.*.gputap"))


@pytest.mark.parametrize("trigger, said", [
    ("no progress for 10", "a time with its unit"),
    ("no progress 10s", "expected 'for' and a time"),
    ("gap<1s", "expected > and a time: gap>100ms"),
    ("open>5s or failed", "a second --trigger instead of 'or'"),
    ("failed or name=x and open>5s", "a second --trigger instead of 'or'"),
    ("name=x and open>5s and failed", "must be the first or the last"),
    ("open>5s and gap>1s", "only one of"),
    ("open>5s and duration>1s", "'duration' is not available with 'open'"),
    ("gap>1s and name=x", "'name' is not available with 'gap'; valid: domain process"),
    ("open>5s and nmae=x", "did you mean 'name'?"),
    ("open>5s and", "expected 'and' and a condition"),
    ("not open>5s", "must be the first or the last"),
])
def test_wrong_conditions_are_refused_with_their_place(build, work, trigger, said):
    err = Tree(build).run("calls:1", options=["--trigger", trigger], status=2).err
    assert said in " ".join(err.split())
