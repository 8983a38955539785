# SPDX-License-Identifier: MIT
"""Test the states of threads that the collector reads (--host-state). Programs in tests/host_state
wait for one thing at a time between two launches, and print when."""
import json
import re
import signal
import subprocess
import sys
import time

import pytest


@pytest.fixture(scope="session")
def program(repo, build, tmp_path_factory):
    path = tmp_path_factory.mktemp("host_state") / "host_states"
    library = build / "soft/refdev/librefdev.so.1"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", "-D_GNU_SOURCE", f"-I{repo}",
        f"-I{repo}/include", repo / "tests/host_state/host_states.c", "-o", path, library,
        f"-Wl,-rpath,{library.parent}", "-lpthread"
    ],
                   check=True)
    return path


@pytest.fixture
def states(tap, build):
    """Return a function that returns the states in a capture, as dictionaries."""
    def read(name="s.gputap"):
        out = subprocess.run([build / "tests/host_state/host_rows", name],
                             stdout=subprocess.PIPE, check=True, text=True).stdout
        return [r for r in map(json.loads, out.splitlines()) if r["detail"] == 2]
    return read


@pytest.fixture
def record(tap, program, states, work, monkeypatch):
    """Return a function: record(scene, ...) runs a scene under gputap and returns its stamps, as
    (from, to), and the states of its first thread."""
    def call(scene, *words, options=()):
        monkeypatch.chdir(work)
        out = tap("run", "-q", "-f", "-o", "s.gputap", *options, "--", program, scene, *words,
                  timeout=300).out
        stamps = [tuple(map(int, line.split()[1:])) for line in out.splitlines()]
        rows = [r for r in states() if r["process"] == 0]
        first = min((r["tid"] for r in rows), default=0)
        return stamps, [r for r in rows if r["tid"] == first]
    return call


def overlap(row, stamps):
    return sum(max(0, min(row["end_ns"], to) - max(row["start_ns"], begin))
               for begin, to in stamps)


# A thread that is ready waits for a processor on a busy machine, so that state may occur anywhere.
SCENES = [
    ("lock", {"lock"}, r"helper \(thread \d+\), which sleeps"),
    ("lock_computing", {"lock"},
     r"helper \(thread \d+\), which (computes|waits for a processor)"),
    ("lock_inheriting", {"lock"}, r"helper \(thread \d+\), which sleeps"),
    ("inversion", {"lock"}, r"helper \(thread \d+\), which waits for a processor"),
    ("condition", {"condition"}, r""),
    ("barrier", {"condition"}, r""),
    ("join", {"condition"}, r"the end of helper \(thread \d+\), which sleeps"),
    ("pipe", {"pipe"}, r"pipe within the process"),
    ("pipe_process", {"pipe"}, r"pipe from helper \(pid \d+\)"),
    ("poll", {"polling"}, r"pipe from helper \(pid \d+\)"),
    ("socket", {"socket"}, r"socket"),
    ("fifo", {"pipe"}, r"\./fifo"),
    ("file", {"file"}, r".*/data"),
    ("sleep", {"sleeping"}, r""),
    ("child", {"child"}, r"host_states \(pid \d+\)"),
    ("compute", {"computing", "runnable"}, r""),
    ("faults", {"faults", "runnable"}, r""),
    ("stopped", {"stopped"}, r"by a signal"),
    ("stolen", {"runnable"}, r""),
]


@pytest.mark.parametrize("scene, wanted, text", SCENES, ids=[s[0] for s in SCENES])
def test_a_thread_that_waits_has_a_state_with_its_evidence(record, scene, wanted, text):
    times = 2 if scene == "inversion" else 5  # it takes seconds of the machine's time
    stamps, rows = record(scene, str(times), "100")
    assert len(stamps) == times
    found = {}
    for row in rows:
        found[row["state"]] = found.get(row["state"], 0) + overlap(row, stamps)
    if "runnable" not in wanted:
        found.pop("runnable", None)
    assert sum(found.get(w, 0) for w in wanted) >= 0.8 * sum(found.values()) > 0, found
    texts = [r["text"] for r in rows if r["state"] in wanted and overlap(r, stamps)]
    assert sum(bool(re.fullmatch(text, t)) for t in texts) * 2 > len(texts), texts


def test_the_holder_of_a_lock_is_a_thread_of_the_process(record):
    _, rows = record("lock", "3", "100")
    locks = [r for r in rows if r["state"] == "lock"]
    assert locks
    for row in locks:
        assert row["values"][2] == int(re.search(r"thread (\d+)", row["text"])[1])
        assert row["values"][2] != row["tid"] and row["values"][7]


def test_states_do_not_overlap_and_have_readings(record):
    _, rows = record("pipe", "5", "100")
    rows.sort(key=lambda r: (r["start_ns"], r["end_ns"]))
    assert rows and all(r["start_ns"] <= r["end_ns"] for r in rows)
    # times are converted to ticks and back
    assert all(a["end_ns"] <= b["start_ns"] + 1000 for a, b in zip(rows, rows[1:]))
    assert any(r["values"][6] > 1 for r in rows)


def test_threads_that_follow_each_other_have_states(record, states):
    record("short_threads", "4", "100")
    sleepers = {r["tid"] for r in states() if r["state"] == "sleeping"}
    assert len(sleepers) == 4


DROP_PTRACE = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(24, 19, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_SYS_PTRACE
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_a_process_that_may_not_be_debugged_is_said_once(run, tap, gputap, program, states, work):
    run([
        sys.executable, "-c", DROP_PTRACE, gputap, "run", "-q", "-f", "-o", "s.gputap", "--",
        program, "hidden", "3", "100"
    ])
    rows = states()
    assert rows and {r["state"] for r in rows} <= {"waiting", "runnable", "computing"}
    report = tap("report", "s.gputap").out
    assert report.count("Not recorded: why threads wait: ") == 1
    assert "may not debug this process" in report


def test_states_can_be_switched_off(record):
    _, rows = record("sleep", "3", "100", options=["--host-state=no"])
    assert rows == []


def test_a_longer_period_makes_fewer_readings(record):
    def readings(period):
        return sum(r["values"][6]
                   for r in record("sleep", "3", "200", options=[f"--host-state={period}"])[1])
    assert 0 < readings("60ms") < readings("2ms")


@pytest.mark.parametrize("value", ["", "maybe", "1us", "11s"])
def test_a_bad_period_is_an_error_that_names_the_way_out(tap, value):
    result = tap("run", f"--host-state={value}", "true", status=2)
    assert f"--host-state {value}: auto, no, or a time from 1ms to 10s" in result.err


def wait_for_stamp(path):
    while not path.exists() or not path.read_text():
        time.sleep(0.05)


def test_a_snapshot_contains_the_state_that_lasts(tap, gputap, program, states, work):
    """The first thread of the program sleeps for an hour."""
    with open(work / "out", "w") as out:
        process = subprocess.Popen([
            gputap, "run", "-q", "-f", "-o", "s.gputap", "--", program, "sleep", "1", "3600000"
        ],
                                   stdout=out)
    try:
        found = []
        for number in range(100):
            time.sleep(0.1)
            name = f"snapshot{number}.gputap"
            if tap("snapshot", process.pid, "-o", name, status=None).status == 0:
                found = states(name)
            if found:
                break
        assert found and all(r["state"] in ("sleeping", "runnable") for r in found[-1:])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()
