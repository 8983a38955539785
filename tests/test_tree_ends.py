# SPDX-License-Identifier: MIT
"""Test every way in which a process can start and end. gputap passes the status through, and the
capture contains all calls."""

import os
import pathlib
import signal

import pytest

from processes import Tree, child_of, finish, printed_calls, wait_until


@pytest.fixture
def tree(build, work):
    return Tree(build)


@pytest.mark.parametrize("steps, status", [
    (["calls:50"], 0),
    (["calls:50", "exit:3"], 3),
    (["calls:50", "exit:255"], 255),
    (["calls:50", "_exit:4"], 4),
    (["calls:50", "quick_exit:5"], 5),
    (["calls:50", "abort"], -signal.SIGABRT),
    (["calls:50", f"raise:{int(signal.SIGSEGV)}"], -signal.SIGSEGV),
    (["calls:50", f"raise:{int(signal.SIGKILL)}"], -signal.SIGKILL),
    (["calls:50", f"raise:{int(signal.SIGTERM)}"], -signal.SIGTERM),
    (["calls:50", f"raise:{int(signal.SIGRTMIN) + 3}"], -(signal.SIGRTMIN + 3)),
], ids=lambda v: "_".join(v[1:]) or "return" if isinstance(v, list) else "")
def test_the_end_of_a_program_comes_through_and_loses_nothing(tree, steps, status):
    result = tree.run(*steps, status=status)
    assert tree.calls() == printed_calls(result)


@pytest.mark.parametrize("steps", [
    ["calls:3", "fork", "calls:5"],
    ["fork", "calls:5"],
    ["calls:3", "fork", "fork", "calls:5"],
    ["calls:3", "fork", "calls:5", "_exit:0"],
    ["calls:3", "vfork:calls:6", "calls:2"],
    ["calls:3", "spawn:calls:6+_exit:0", "calls:2"],
    ["calls:3", "exec:calls:4"],
    ["calls:3", "exec:calls:4+exit:0"],
    ["calls:3", "fork", "exec:calls:4"],
    ["calls:3", "spawn:calls:2+fork+calls:1", "fork", "calls:5"],
], ids=lambda v: "_".join(v).replace(":", ""))
def test_every_process_of_the_tree_is_followed(tree, steps):
    result = tree.run(*steps)
    # a process without calls has no ring
    assert tree.calls() == [process for process in printed_calls(result) if process[1]]


def test_exec_makes_a_second_process_of_the_same_pid(tree):
    tree.run("calls:3", "exec:calls:4+exit:9", status=9)
    first, second = tree.read()["processes"]
    assert first["pid"] == second["pid"]
    assert (first["ended"], first["wait_status"]) == (True, -1)
    assert (second["ended"], second["wait_status"]) == (True, 9 << 8)


def assert_still_runs(result, found, pid):
    assert "1 process of the tree is still running; 'gputap run --wait' waits for all" in " ".join(
        result.err.split())
    assert f"1 process still running at the end: caller ({pid})" in result.err
    assert found["end"] == "incomplete"


def test_a_child_that_outlives_the_program_is_told_to_stop(tree):
    result = tree.run("calls:3", "leave:late", "calls:5", "go", "alone", "calls:100")
    found = tree.read()
    assert [p["ended"] for p in found["processes"]] == [True, False]
    assert found["processes"][1]["calls"] == 5
    assert_still_runs(result, found, found["processes"][1]["pid"])


def test_a_daemon_that_has_used_no_runtime_yet_is_named(tree, tap):
    """The daemon makes its calls after the session has ended."""
    result = tree.run("leave:late", "go", "alone", "calls:100")
    (daemon,) = (pid for pid, made in printed_calls(result) if made)
    found = tree.read()
    assert [(p["calls"], p["ended"]) for p in found["processes"] if p["pid"] == daemon
            ] == [(0, False)]
    assert_still_runs(result, found, daemon)
    said = " ".join(tap("info", "c.gputap").out.split())
    assert f"process {daemon} was still running at the end" in said and "--wait" in said
    assert "could not write all records" not in said


def test_wait_stays_for_a_daemon_that_has_used_no_runtime_yet(tree, work):
    process = tree.start("leave", "wait:go", "calls:10", options=["--wait"])
    ended = child_of(process)
    wait_until(lambda: not pathlib.Path(f"/proc/{ended}").exists(), "the program's end")
    (work / "go").touch()
    result = finish(process)
    assert [c for c in tree.calls() if c[1]] == [c for c in printed_calls(result) if c[1]]
    assert "still" not in result.err


def test_an_interrupt_ends_the_wait_and_keeps_the_capture(tree, work):
    process = tree.start("calls:3", "leave", "calls:5", "alone", options=["--wait"])
    ended = child_of(process)
    wait_until(lambda: not pathlib.Path(f"/proc/{ended}").exists(), "the program's end")
    process.send_signal(signal.SIGINT)
    result = finish(process)
    assert result.status == 0
    found = tree.read()
    assert [p["pid"] for p in found["processes"]] == [pid for pid, _ in printed_calls(result)]
    assert_still_runs(result, found, found["processes"][1]["pid"])


def test_wait_stays_until_the_last_process_of_the_tree(tree):
    result = tree.run("calls:3",
                      "leave",
                      "sleep:400",
                      "calls:10",
                      "exec:calls:4+exit:0",
                      options=["--wait"])
    assert tree.calls() == printed_calls(result)
    assert "still running" not in result.err


def test_wait_stays_for_a_pid_that_has_no_segment_meanwhile(tree, build):
    result = tree.run("calls:3",
                      "leave",
                      "calls:10",
                      f"detour:{build}/tests/core/static_program",
                      options=["--wait"])
    assert tree.calls() == printed_calls(result)
    assert len(printed_calls(result)) == 3


@pytest.mark.parametrize("step", ["close", "closeall", "chdir:/", "chroot:/dev"])
def test_a_program_that_takes_its_surroundings_away_is_recorded_to_its_end(tree, step):
    tree.run("calls:10", step, "calls:10", "_exit:6", status=6)
    (process,) = tree.read()["processes"]
    assert process["calls"] == 21
    assert process["count_calls"]["dropped"] == {}


def test_1000_short_lived_children_are_all_there(tree):
    tree.run("children:1000,5")
    found = tree.read()
    assert len(found["processes"]) == 1001
    assert [p["calls"] for p in found["processes"]] == [1] + [5] * 1000


def test_10000_threads_over_time_are_all_there(tree):
    # more threads than slots
    result = tree.run("threads:10000,20,7", options=["--when-full", "60s"])
    (process,) = tree.read()["processes"]
    assert tree.calls() == printed_calls(result) == [(process["pid"], 70001)]
    assert process["threads"] == 10001


def test_threads_and_blocks_come_back(tree):
    """Memory is bounded. 5,000 threads pass through a pool of 64 blocks and 1,000 slots, and no
    wait times out."""
    result = tree.run("threads:5000,8,40",
                      options=[
                          "--buffer", "1M", "--block-size", "16K", "--threads", "1000",
                          "--when-full", "20s"
                      ])
    assert tree.calls() == printed_calls(result)


@pytest.mark.parametrize("rounds", [1, 5])
def test_a_runtime_that_is_closed_again_keeps_what_it_recorded(tree, rounds):
    result = tree.run(rounds, program=tree.folder / "closer")
    assert tree.calls() == printed_calls(result)


def test_a_program_in_a_pid_namespace_of_its_own_is_followed(tree):
    """The collector does not know the program's pid, or knows another process with that pid. The
    program lives longer than the collector's polling interval."""
    if os.geteuid() != 0:
        pytest.skip("needs root to make a pid namespace")
    result = tree.run("--fork",
                      "--pid",
                      tree.caller,
                      "calls:50",
                      "sleep:1500",
                      "calls:50",
                      program="unshare")
    found = {pid: calls for pid, calls in tree.calls() if calls}
    assert found == dict(printed_calls(result)) == {1: 101}
