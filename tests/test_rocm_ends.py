# SPDX-License-Identifier: MIT
"""Test HIP programs that fork, leave GPU activities behind, are killed, or fault. The capture is
complete up to that moment and reports how the program ended."""

import collections
import csv
import functools
import json
import os
import random
import signal
import subprocess
import time

import pytest

from conftest import clean_environment, run_command
from processes import child_of, finish, tally, wait_until


@pytest.fixture(scope="module")
def run_untraced(hip_program, softgpu):
    """Return a function that runs the program untraced, once for the same steps."""
    @functools.cache
    def call(words, status):
        return run_command([hip_program("ends"), *words], env=softgpu, status=status)
    return call


@pytest.fixture
def ends(hip_program, run_untraced, softgpu, tap, work):
    """Return a function: ends("kernels:3", "exit") runs the program with these steps and returns
    the recording. The traced output and status must equal those of an untraced run."""
    def call(*words, status=0, options=()):
        program = hip_program("ends")
        bare = run_untraced(words, status)
        result = tap("run",
                     "-q",
                     "-f",
                     "-o",
                     "e.gputap",
                     *options,
                     "--",
                     program,
                     *words,
                     env=softgpu,
                     status=status)
        assert result.out == bare.out
        return Recorded(tap)
    return call


class Recorded:
    """Contents of e.gputap: its processes, and per process the number of calls per operation and of
    kernels per name."""

    def __init__(self, tap):
        self.info = json.loads(tap("info", "--json", "e.gputap").out)
        assert self.info["end"] == "complete"
        assert self.info["seen"] == self.info["recorded"] + self.info["dropped"]
        tap("export", "-f", "e.gputap", "-o", "e.csv")
        self.found = collections.defaultdict(collections.Counter)
        self.links = []
        with open("e.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        calls = {row["correlation"]: row for row in rows if row["kind"] == "call"}
        for row in rows:
            if row["kind"] in ("call", "device"):
                self.found[int(row["pid"])][row["name"] or row["operation"]] += 1
            if row["kind"] == "device":
                self.links.append((row, calls.get(row["correlation"])))

    def of(self, name):
        """Return how often calls or kernels of this name were recorded, for each process that has
        any, in ascending order."""
        return sorted(n for n in (counts[name] for counts in self.found.values()) if n)

    def check_links(self, open_calls=0):
        """Check the links of all activities.

        @open_calls: number of calls that the kill may interrupt; their activities are recorded,
                     their call records are not."""
        interrupted = {row["correlation"] for row, call in self.links if not call}
        assert len(interrupted) <= open_calls, interrupted
        for row, call in self.links:
            if not call:
                continue
            assert call and call["pid"] == row["pid"], row
            assert (row["name"] == "count") == (call["operation"] == "hipLaunchKernel"), (row, call)
        for pid in self.found:  # on one stream, kernels run in launch order, each exactly once
            kernels = [(int(row["start_ns"]), int(call["start_ns"]), int(row["end_ns"]))
                       for row, call in self.links
                       if call and row["name"] == "count" and int(row["pid"]) == pid]
            kernels.sort()
            assert all(a[1] < b[1] and a[2] <= b[0] for a, b in zip(kernels, kernels[1:])), kernels

    def unfinished(self):
        assert self.info["dropped"] == self.info["dropped_by_reason"]["unfinished"], self.info[
            "dropped_by_reason"]
        return self.info["dropped"]


def test_parent_and_child_of_a_fork_before_hip_are_both_whole(ends):
    recorded = ends("fork-before", "kernels:30")
    assert recorded.of("hipLaunchKernel") == recorded.of("count") == [30, 30]
    recorded.check_links()
    assert recorded.info["dropped"] == 0


def test_a_child_that_does_nothing_after_its_parent_s_hip_disturbs_nothing(ends):
    recorded = ends("kernels:20", "fork-idle", "kernels:10")
    assert recorded.of("hipLaunchKernel") == recorded.of("count") == [30]
    recorded.check_links()
    assert recorded.info["dropped"] == 0


def test_a_child_that_starts_anew_after_its_parent_s_hip_is_whole(ends):
    recorded = ends("kernels:20", "fork-exec:12", "kernels:10")
    assert recorded.of("hipLaunchKernel") == recorded.of("count") == [12, 30]
    recorded.check_links()
    assert recorded.info["dropped"] == 0


@pytest.mark.parametrize("end", ["exit", "_exit", "abort"])
def test_work_left_behind_is_recorded_or_counted_as_unfinished(ends, end):
    status = -signal.SIGABRT if end == "abort" else 0
    recorded = ends("kernels:50", "queued:300", end, status=status)
    assert recorded.of("hipLaunchKernel") == [350]
    # exit() harvests the completed kernels; _exit() harvests nothing
    assert sum(recorded.of("count")) >= (50 if end == "exit" else 0)
    # 350 kernels, a memset and a memcpy
    assert recorded.info["activities"] + recorded.unfinished() == 350 + 2
    recorded.check_links()
    (process,) = recorded.info["processes"]
    assert process["end"] == {"abort": "Aborted (signal 6)"}.get(end, "exit 0"), process


def test_a_device_fault_ends_the_program_as_untraced_and_all_before_it_is_there(ends):
    recorded = ends("kernels:40", "fault", status=-signal.SIGABRT)
    # the abort may interrupt the launch
    assert recorded.of("hipLaunchKernel") in ([40], [41])
    assert recorded.of("count") == [40]
    assert recorded.unfinished() == 2  # the kernel, and the call that launched it or waited for it
    assert "Aborted" in json.dumps(recorded.info["processes"])


@pytest.mark.parametrize("options", [(), ("--mode", "lite")])
@pytest.mark.parametrize("end", ["kill", "_exit"])
@pytest.mark.parametrize("way", ["device", "stream", "event", "copy"])
def test_what_was_waited_for_is_there_whatever_comes_next(ends, way, end, options):
    for _ in range(4):
        recorded = ends("queued:400",
                        way,
                        end,
                        status=-signal.SIGKILL if end == "kill" else 0,
                        options=options)
        assert recorded.of("count") == [400], recorded.info["dropped_by_reason"]
        assert recorded.info["dropped"] == 0
        recorded.check_links() if not options else None


def test_what_was_done_well_before_a_kill_is_there_also_after_a_long_silence(ends):
    recorded = ends("kernels:20",
                    "pause:1500",
                    "kernels:20",
                    "pause:1000",
                    "kill",
                    status=-signal.SIGKILL)
    assert recorded.of("hipLaunchKernel") == recorded.of("count") == [40]
    assert recorded.info["dropped"] == 0
    recorded.check_links()


@pytest.mark.parametrize("part", range(4))
def test_a_hip_program_killed_at_a_random_moment_loses_no_call_that_had_returned(
        gputap, hip_program, softgpu, tap, work, part):
    for _ in range(2):
        for name in ("tally", "e.gputap"):
            (work / name).unlink(missing_ok=True)
        command = [gputap, "run", "-q", "-o", "e.gputap", "--", hip_program("ends"), "forever"]
        environment = {**clean_environment(), **{key: str(value) for key, value in softgpu.items()}}
        process = subprocess.Popen([str(c) for c in command],
                                   env=environment,
                                   text=True,
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE,
                                   start_new_session=True)
        child = child_of(process)
        wait_until(lambda: tally(work / "tally") > 10, "the first launches")
        time.sleep(random.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        assert finish(process).status == -signal.SIGKILL
        recorded, returned = Recorded(tap), tally(work / "tally")
        launches = sum(recorded.of("hipLaunchKernel"))
        assert returned <= launches <= returned + 1
        # plus a memset and the open calls
        assert recorded.info["activities"] + recorded.info["dropped"] <= launches + 3
        recorded.check_links(open_calls=1)
        assert "Killed" in json.dumps(recorded.info["processes"])


@pytest.mark.parametrize("milliseconds, over", [(0, True), (30, True), (20000, False)])
def test_handlers_of_completed_work_are_over_before_libraries_end_but_for_one_that_never_returns(
    repo, softgpu, tap, work, milliseconds, over
):
    subprocess.run([
        "c++", "-O1", "-DLITTLEENDIAN_CPU", repo / "tests/rocm/hsa_handler.cc", "-o", "handler",
        "-lhsa-runtime64"
    ],
                   check=True)
    result = tap("run",
                 "-q",
                 "-o",
                 "a.gputap",
                 "--",
                 work / "handler",
                 str(milliseconds),
                 env=softgpu)
    assert result.out == ("the handler is over\n" if over else "the handler is not over\n")


@pytest.mark.parametrize("words", [("kernels:300", ), ("queued:300", "event")])
def test_a_wait_for_a_stream_or_event_is_split_at_the_end_of_its_last_work(ends, tap, words):
    ends(*words)
    name = "hipStreamSynchronize" if words[0] == "kernels:300" else "hipEventSynchronize"
    (wait, ) = [
        o for o in json.loads(tap("report", "e.gputap", "--json").out)["operations"]
        if o["name"] == name
    ]
    with open("e.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    (call, ) = [r for r in rows if r["operation"] == name]
    end = max(int(r["end_ns"]) for r in rows if r["kind"] == "device" and r["name"])
    known = max(0, min(end, int(call["end_ns"])) - int(call["start_ns"]))
    if known:  # otherwise all activities ended before the wait
        assert (wait["wait_ns"], wait["runtime_ns"]) == (known, 0)
    assert wait["unattributed_ns"] == wait["total_ns"] - known
