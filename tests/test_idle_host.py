# SPDX-License-Identifier: MIT
"""Test causes of idle time outside any call, from the state of the launching thread. The program
tests/idle/idle_host.c provokes one state at a time and prints its times."""
import re
import subprocess

import idle_scenes
import pytest
from idle_scenes import check_shares, check_sums


@pytest.fixture(scope="session")
def program(repo, build, tmp_path_factory):
    library = build / "soft/refdev/librefdev.so.1"
    path = tmp_path_factory.mktemp("idle") / "idle_host"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{repo}", f"-I{repo}/include",
        repo / "tests/idle/idle_host.c", "-o", path, library, f"-Wl,-rpath,{library.parent}",
        "-lpthread"
    ],
                   check=True)
    return path


@pytest.fixture
def trace(tap, program):
    """Return a function: trace(rule) returns the program's stamps and the report."""
    def call(rule):
        built, report = idle_scenes.trace(tap, (program, rule))
        check_sums(report)
        return built, report
    return call


def find(report, cause):
    """Return the row of a cause."""
    (row, ) = [r for r in report["idle"] if r["cause"] == cause]
    return row


# rule -> its cause, and what the threads waited for
RULES = {
    "lock": ("host_lock", r"held by (holder|thread) \(thread \d+\).*"),
    "inversion": ("host_lock", r"held by holder \(thread \d+\), which waits for a processor"),
    "condition": ("host_condition", None),
    "pipe": ("host_pipe", r"pipe from idle_host \(pid \d+\)"),
    "file": ("host_file", r"/.*/batch\.bin"),
    "socket": ("host_socket", "socket.*"),
    "sleeping": ("host_sleeping", None),
    "polling": ("host_polling", None),
    "child": ("host_child", r"idle_host \(pid \d+\)"),
    "runnable": ("host_runnable", None),
    "stopped": ("host_stopped", "by a signal"),
}


@pytest.mark.parametrize("rule", sorted(RULES))
def test_the_state_of_the_thread_is_the_cause(trace, rule):
    built, report = trace(rule)
    cause, wait = RULES[rule]
    assert cause in built
    check_shares(built, report)
    row = find(report, cause)
    if wait:
        assert re.fullmatch(wait, row["waits_for"]), row["waits_for"]
    assert (row["after_call"], row["before_call"]) == ("refdevStreamSynchronize",
                                                       "refdevLaunchKernel")
    assert row["between_ns"] <= row["idle_ns"]


def test_the_mostly_column_joins_threads_that_held_a_lock(trace):
    _, report = trace("lock")
    mostly = find(report, "host_lock")["mostly"]
    assert re.match(r"held by holder \((\d threads|thread \d+)\)", mostly), mostly


def test_a_long_gap_names_the_holder_of_the_lock(trace, tap):
    _, report = trace("lock")
    gap = report["gaps"][0]
    assert gap["cause"] == "host_lock"
    assert gap["in"] == gap["waits_for"] and gap["in"].startswith("held by ")
    assert gap["before_call"] == "refdevLaunchKernel"
    text = tap("report", "i.gputap", "-t", "idle,gaps").out
    assert "waiting for a lock" in text and "before refdevLaunchKernel" in text


def test_the_tables_and_the_timeline_name_the_cause_and_the_calls(trace, tap, work):
    from consumers import perfetto
    _, report = trace("file")
    tap("export", "i.gputap", "-o", "i.pftrace")
    (row, *_) = perfetto.ask(work / "i.pftrace", slices="""
        select s.name, s.dur, extract_arg(s.arg_set_id, 'debug.cause') as cause,
               extract_arg(s.arg_set_id, 'debug.waits_for') as waits_for,
               extract_arg(s.arg_set_id, 'debug.before_call') as before_call
        from slice s where s.category = 'idle' order by s.dur desc""")["slices"]
    assert row["cause"] == "host_file" and row["waits_for"].endswith("/batch.bin")
    assert row["before_call"] == "refdevLaunchKernel"
    assert row["name"] == "reading or writing a file"


def test_time_before_the_first_step_is_apart_from_the_steps(trace, tap):
    built, report = trace("startup")
    (ends, ) = report["start_up"]
    (device, ) = report["devices"]
    assert ends["before_first_activity_ns"] > 0 and ends["after_last_activity_ns"] > 0
    assert built["startup"] * 0.95 <= ends["before_first_step_idle_ns"] < device["idle_ns"]
    assert ends["before_first_step_idle_ns"] <= ends["before_first_step_ns"] < device["span_ns"]
    first_screen = tap("report", "i.gputap").out
    assert "start-up " in first_screen and "; then steps for " in first_screen
    text = tap("report", "i.gputap", "-t", "idle").out
    assert "Not in this table: " in text and "start-up " in text
