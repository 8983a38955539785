# SPDX-License-Identifier: MIT
"""Test what threads record of their own use of the processor at the edges of gaps between calls."""

import re
import subprocess
from collections import namedtuple

import pytest

GAP, CALL, BUSY = 1, 2, 3  # enum gt_host_edge
THRESHOLD_NS, BUSY_NS = 100_000, 1_000_000  # src/core/gap_edges.h
Reading = namedtuple("Reading", "process ns cpu_ns voluntary involuntary minor major edge call "
                                "system")
Call = namedtuple("Call", "process id start_ns end_ns")


@pytest.fixture(scope="module")
def program(repo, build, tmp_path_factory):
    library = build / "soft/refdev/librefdev.so.1"
    path = tmp_path_factory.mktemp("usage") / "usage_program"
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{repo}",
                    repo / "tests/host/usage_program.c", "-o", path, library,
                    f"-Wl,-rpath,{library.parent}"], check=True)
    return path


def read(run, build, capture):
    """Return the readings and the calls of a capture, by time."""
    readings, calls = [], []
    for line in run([build / "tests/synth/dump", capture, "--host"]).out.splitlines():
        if m := re.match(r"host (\d+)/\d+ detail=1 state=0 (\d+)\.\.\d+ (.*)$", line):
            readings.append(Reading(int(m[1]), int(m[2]), *map(int, m[3].split())))
        elif m := re.match(r"call (\d+)/\d+ .* id=(0x\w+) .* (\d+)\.\.(\d+) ret", line):
            calls.append(Call(int(m[1]), int(m[2], 16), int(m[3]), int(m[4])))
    return sorted(readings, key=lambda r: r.ns), sorted(calls, key=lambda c: c.start_ns)


@pytest.fixture
def trace(tap, run, build, program, work):
    """Return a function: trace(what) returns what the program measured, the readings, the calls."""
    def call(what, *options):
        out = tap("run", "-q", "-f", *options, "-o", "u.gputap", program, what).out
        own = [line.split() for line in out.splitlines() if line.startswith(("gap", "call"))]
        return ([tuple(map(int, words[1:])) for words in own],
                *read(run, build, work / "u.gputap"))
    return call


def used(readings, edge):
    """Return the use between each reading at this edge and the reading before it."""
    return [(b.cpu_ns - a.cpu_ns, b.voluntary - a.voluntary, b.minor - a.minor)
            for a, b in zip(readings, readings[1:]) if b.edge == edge]


def in_order(wanted, found, is_same):
    """Return true if the values found contain the wanted values in this order."""
    rest = iter(found)
    return all(any(is_same(w, f) for f in rest) for w in wanted)


def test_computing_between_calls_is_time_of_the_processor(trace):
    own, readings, _ = trace("compute")
    assert len(own) == 10
    assert in_order(own, used(readings, GAP), lambda w, f: abs(f[0] - w[0]) < 0.1 * w[0])


def test_sleeping_between_calls_is_a_voluntary_switch(trace):
    own, readings, _ = trace("sleep")
    assert in_order(own, used(readings, GAP),
                    lambda w, f: f[0] - w[0] < 500_000 and f[1] >= w[1] >= 1)


def test_page_faults_between_calls_are_counted(trace):
    own, readings, _ = trace("faults")
    assert all(minor >= 2000 for _, _, minor in own)
    assert in_order(own, used(readings, GAP),
                    lambda w, f: w[2] <= f[2] < w[2] + 100 and abs(f[0] - w[0]) < 0.1 * w[0])


def test_system_time_is_part_of_the_time_of_the_processor(trace):
    _, readings, _ = trace("faults")
    # the kernel splits the CPU time into user and system time at its ticks
    assert 0 < readings[-1].system <= readings[-1].cpu_ns + 20_000_000
    for a, b in zip(readings, readings[1:]):
        assert a.system <= b.system


def test_long_call_is_apart_from_the_gap_after_it(trace):
    own, readings, calls = trace("long_call")
    assert in_order(own, used(readings, CALL), lambda w, f: f[1] >= w[1] >= 1)
    ends = {r.call: r for r in readings if r.edge == CALL}
    long = [c for c in calls if c.end_ns - c.start_ns > 2 * THRESHOLD_NS]
    assert len(long) >= 10 and all(c.id in ends for c in long)
    assert all(abs(ends[c.id].ns - c.end_ns) < 1000 for c in long)


def check_gaps(readings, calls):
    """Check that each gap between two calls of one thread ends with a reading. Return them."""
    starts = {r.call: r for r in readings if r.edge == GAP}
    after = [b for a, b in zip(calls, calls[1:]) if b.start_ns - a.end_ns > 2 * THRESHOLD_NS]
    assert all(c.id in starts for c in after)
    # the gap and not the call includes the time of the reading
    assert all(starts[c.id].ns <= c.start_ns for c in after)
    return [starts[c.id] for c in after]


def test_every_gap_ends_with_a_reading_of_the_call_that_ends_it(trace):
    _, readings, calls = trace("compute")
    assert len(check_gaps(readings, calls)) >= 10
    assert calls[0].id in {r.call for r in readings}  # the start of a thread starts a gap


def test_gaps_of_opencl_end_with_readings(repo, tap, run, build, work):
    subprocess.run(["cc", "-O1", f"-I{repo}", f"-I{repo}/include",
                    repo / "tests/idle/idle_opencl.c", "-o", work / "idle_opencl", "-lOpenCL",
                    "-lpthread"], check=True)
    tap("run", "-q", "-o", "o.gputap", work / "idle_opencl", "host")
    readings, calls = read(run, build, work / "o.gputap")
    main = [c for c in calls if c.id >> 40 == calls[0].id >> 40]
    assert len(check_gaps(readings, main)) >= 10


def test_counts_of_a_thread_only_increase(trace):
    _, readings, _ = trace("faults")
    for a, b in zip(readings, readings[1:]):
        assert all(x <= y for x, y in zip(a[1:7], b[1:7]))


def test_busy_thread_reads_once_in_a_while(trace):
    _, readings, calls = trace("short_calls")
    assert {GAP, BUSY} <= {r.edge for r in readings}
    times, at = [r.ns for r in readings], 0
    for c in calls:  # the use before a gap that may start at this call's end is bounded
        while at + 1 < len(times) and times[at + 1] <= c.end_ns + 1000:
            at += 1
        assert c.end_ns - times[at] < 1.01 * (BUSY_NS + THRESHOLD_NS) + 1000
    busy = [r for r in readings if r.edge == BUSY]
    assert all(b.ns - a.ns > 0.99 * BUSY_NS for a, b in zip(busy, busy[1:]))


def test_no_reading_is_made_under_a_filter_that_kills_for_it(trace):
    _, readings, calls = trace("filtered")
    assert len(calls) >= 11
    assert 3 <= len([r for r in readings if r.edge == GAP]) <= 6


def test_child_of_a_fork_starts_to_count_again(trace):
    _, readings, _ = trace("forked")
    parent, child = ([r for r in readings if r.process == p] for p in (0, 1))
    assert parent[-1].cpu_ns > 50_000_000
    assert len(child) >= 3 and child[-1].cpu_ns < 50_000_000


def test_calls_without_records_end_gaps_too(trace):
    own, readings, calls = trace("compute", "--mode", "standard")
    assert not calls and len(own) == 10
    gaps = [r for r in readings if r.edge == GAP]
    assert len(gaps) >= 10 and all(r.call == 0 for r in gaps)
    assert in_order(own, used(readings, GAP), lambda w, f: abs(f[0] - w[0]) < 0.1 * w[0])
