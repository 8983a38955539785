# SPDX-License-Identifier: MIT
"""Test SIGKILL at any moment, to the program, to the collector, and to both."""

import os
import random
import signal
import struct
import subprocess
import time

import pytest

from processes import Tree, child_of, finish, sessions_of, tally, wait_until

ROUNDS = 25
SMALL = ["--block-size", "16K", "--buffer", "256K"]


@pytest.fixture
def tree(build, work):
    return Tree(build)


def begin(tree, work, options=()):
    for name in ("tally", "c.gputap"):
        (work / name).unlink(missing_ok=True)
    process = tree.start(f"tally:{work}/tally", "calls:1", "forever", options=options)
    wait_until(lambda: tally(work / "tally") > 0, "the first call")
    return process, child_of(process)


def pause(seconds):
    time.sleep(random.random() * seconds)


def check(process, returned):
    """Check that the capture contains every call that had returned, and counts the open call."""
    assert returned <= process["calls"] <= returned + 1
    assert sum(process["count_calls"]["dropped"].values()) <= 1


@pytest.mark.parametrize("part", range(8))
def test_program_killed_at_a_random_moment_loses_no_call_that_had_returned(tree, work, part):
    for i in range(ROUNDS):
        process, child = begin(tree, work, SMALL if i % 2 else [])
        pause(0.03)
        os.kill(child, signal.SIGKILL)
        assert finish(process).status == -signal.SIGKILL
        found = tree.read()
        assert found["end"] == "complete"
        check(found["processes"][0], tally(work / "tally"))


@pytest.mark.parametrize("part", range(4))
def test_collector_and_program_killed_and_recovered_nothing_twice_nothing_missing(
        tree, tap, work, part):
    for i in range(ROUNDS):
        process, child = begin(tree, work, SMALL if i % 2 else ["--when-full", "0"])
        pause(0.03)
        process.kill()
        pause(0.005)  # takes longer on a busy machine; the pool may be small
        os.kill(child, signal.SIGKILL)
        finish(process)
        (folder,) = sessions_of("c.gputap")
        tap("recover", folder)
        assert not folder.exists()
        (found,) = tree.read()["processes"]
        counts = found["count_calls"]
        full = counts["dropped"].pop("full", 0)  # rings were not drained between the two kills
        assert tally(work / "tally") <= counts["recorded"] + full + sum(
            counts["dropped"].values()) <= tally(work / "tally") + 1


def test_recover_while_the_program_runs_on(tree, tap, work):
    process, child = begin(tree, work)
    process.kill()
    finish_output = process.wait()
    assert finish_output == -signal.SIGKILL
    (folder,) = sessions_of("c.gputap")
    result = tap("recover", folder)
    assert "still runs" in result.err
    before = tally(work / "tally")
    wait_until(lambda: tally(work / "tally") > before + 1000, "the program to run on")
    os.kill(child, signal.SIGKILL)
    process.communicate()
    found = tree.read()
    assert found["end"] == "complete" # calls after the session's end do not count
    assert found["processes"][0]["calls"] > 0
    assert not folder.exists()


def test_recover_twice_is_harmless(tree, tap, work):
    process, child = begin(tree, work)
    os.kill(process.pid, signal.SIGKILL)
    os.kill(child, signal.SIGKILL)
    finish(process)
    (folder,) = sessions_of("c.gputap")
    tap("recover", folder)
    first = (work / "c.gputap").read_bytes()
    assert "no such" in tap("recover", folder, status=1).err.lower()
    assert (work / "c.gputap").read_bytes() == first


def test_recover_killed_at_random_moments_can_be_run_again(tree, tap, gputap, work):
    for _ in range(ROUNDS):
        process, child = begin(tree, work)
        pause(0.05)
        process.kill()
        os.kill(child, signal.SIGKILL)
        finish(process)
        (folder,) = sessions_of("c.gputap")
        recover = subprocess.Popen([gputap, "recover", folder], stderr=subprocess.DEVNULL)
        pause(0.01)
        recover.kill()
        recover.wait()
        if folder.exists():
            tap("recover", folder)
        found = tree.read()
        assert found["end"] == "complete"
        check(found["processes"][0], tally(work / "tally"))


def test_recover_leaves_a_session_that_has_its_collector_alone(tree, tap, work):
    process, child = begin(tree, work)
    (folder,) = sessions_of("c.gputap")
    assert "'s collector still runs" in tap("recover", folder, status=1).err
    os.kill(child, signal.SIGKILL)
    finish(process)
    tree.read()


def test_recover_without_a_folder_lists_what_is_left(tree, tap, work):
    process, child = begin(tree, work)
    assert f"is being written to {work}/c.gputap by process {process.pid}" in tap("recover").out
    process.kill()
    os.kill(child, signal.SIGKILL)
    finish(process)
    (folder,) = sessions_of("c.gputap")
    listed = [line for line in tap("recover").out.splitlines() if line.startswith(str(folder))]
    assert listed and f"left from {work}/c.gputap" in listed[0]
    tap("recover", folder)


@pytest.mark.parametrize("left", [[], ["session"], ["session", "output"]],
                         ids=["nothing", "the session", "more"])
def test_a_folder_whose_removal_was_cut_short_is_removed(tree, tap, work, left):
    process, child = begin(tree, work)
    process.kill()
    os.kill(child, signal.SIGKILL)
    finish(process)
    (folder,) = sessions_of("c.gputap")
    for file in folder.iterdir():
        if file.name not in left:
            file.unlink()
    assert "nothing left to finish" in tap("recover", folder).err
    assert not folder.exists()


def test_recover_of_something_else_is_refused(tap, work):
    assert "is not a session folder" in tap("recover", work, status=1).err
    (work / "session").write_bytes(b"x" * 10)
    assert "is truncated" in tap("recover", work, status=1).err
    (work / "session").write_bytes(b"x" * 8192)
    assert "is not a gputap session" in tap("recover", work, status=1).err
    (work / "session").write_bytes(b"GTPSESS1" + struct.pack("<II", 1, 4096) + bytes(4080))
    assert "another version of gputap (session version 1," in tap("recover", work, status=1).err
