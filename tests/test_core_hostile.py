# SPDX-License-Identifier: MIT
"""Test failing system calls, small limits, and programs that do not expect a preloaded library: the
program's result is unchanged, and every loss is counted."""

import json
import os
import resource
import shutil
import signal

import pytest

from rings import Session

ROOT_ONLY = pytest.mark.skipif(os.getuid() != 0, reason="needs root: chroot() and setuid()")


def limited(**limits):
    """Return a command prefix that sets @limits, named as in prlimit(1)."""
    return [shutil.which("prlimit"), *(f"--{name}={value}" for name, value in limits.items())]


def test_any_one_failing_call_of_the_library_leaves_the_program_unharmed(build, work, run):
    command = [build / "tests/interception/way_linked"]
    expected = run(command).out

    def traced(n):
        with Session(build, block=16384) as session:
            preload = f"{build}/tests/core/libfail_nth.so:{session.library}"
            result = session.run(
                command, env={"LD_PRELOAD": preload, "FAIL_NTH": n, "FAIL_COUNT": work / "count"})
            assert result.out == expected and result.err == "", f"call {n} failing: {result}"
            seen, recorded, dropped = session.counts("way_linked")
            assert seen == recorded + dropped, f"call {n} failing"
            return seen, int((work / "count").read_text())

    seen, count = traced(0)
    assert seen and count > 15
    for n in range(1, count + 3):
        traced(n)


@pytest.mark.parametrize(
    "what", ["close_all", "chdir", "umask", "clearenv", "block_signals", "no_files", "thread"])
def test_recording_goes_on_after(build, what):
    with Session(build) as session:
        session.run([build / "tests/core/hostile", what])
        assert session.calls("hostile") == ["clGetPlatformIDs"] * (60 if what == "thread" else 40)


@pytest.mark.parametrize("answer", ["refuse", "kill"])
def test_a_sandbox_older_than_some_system_calls_is_no_trouble(build, answer):
    with Session(build) as session:
        session.run([build / "tests/core/hostile", answer, "thread", "fork", "exec"])
        assert session.counts("hostile") == (140, 140, 0)
        assert session.kind("segment", "true")


@pytest.mark.parametrize("what", ["chroot", "setuid"])
@ROOT_ONLY
def test_recording_goes_on_after_privileged(build, what):
    with Session(build) as session:
        session.run([build / "tests/core/hostile", what])
        assert session.calls("hostile") == ["clGetPlatformIDs"] * 40


@pytest.mark.parametrize("way", ["fork", "_Fork", "clone"])
@pytest.mark.parametrize("options", [[], ["--paused"]], ids=["recorded", "paused"])
def test_a_child_waits_for_no_lock_that_its_parent_left_held(build, tap, work, way, options):
    """libc releases its locks only in children of fork(). In other children, gputap creates no
    thread."""
    tap("run", "-q", *options, "-o", "a.gputap", build / "tests/core/hostile", "make_threads",
        *[way] * 400, timeout=120)
    info = json.loads(tap("info", "a.gputap", "--json").out)
    assert len(info["processes"]) == (401 if way == "fork" or not options else 1)
    assert info["seen"] == info["recorded"] == (0 if options else 2 * 20 + 400 * 2 * 20)


@pytest.mark.parametrize("way", ["fork", "_Fork", "clone"])
def test_a_child_records_for_itself(build, way):
    with Session(build) as session:
        session.run([build / "tests/core/hostile", way])
        segments = sorted(session.kind("segment", "hostile"), key=lambda r: r["forks"])
        assert [r["forks"] for r in segments] == [0, 1]
        assert segments[1]["ppid"] == segments[0]["pid"]
        assert session.counts("hostile") == (60, 60, 0)


@pytest.mark.parametrize("trouble", ["no_files", "chroot", "setuid"])
@ROOT_ONLY
def test_a_child_that_cannot_make_its_segment_runs_and_is_counted(build, trouble):
    with Session(build) as session:
        session.run([build / "tests/core/hostile", trouble, "fork"])
        segments = session.kind("segment", "hostile")
        assert [r["children_lost"] for r in segments] == [1]
        assert session.counts("hostile") == (60, 60, 0)


@pytest.mark.parametrize("end, status", [("_exit", 0), ("abort", -signal.SIGABRT),
                                         ("crash", -signal.SIGSEGV)])
def test_what_was_recorded_outlives_the_end_by(build, end, status):
    with Session(build) as session:
        command = [*limited(core=0), build / "tests/core/hostile", end]
        session.run(command, status=status)
        assert session.calls("hostile") == ["clGetPlatformIDs"] * 40
        assert session.counts("hostile") == (40, 40, 0)
        assert [r["state"] for r in session.kind("segment", "hostile")] == [1]  # no proper end


@pytest.mark.parametrize("end", ["thread", "quick_exit"])
def test_exit_and_quick_exit_are_proper_ends(build, end):
    with Session(build) as session:
        session.run([build / "tests/core/hostile", end])
        assert {r["state"] for r in session.kind("segment", "hostile")} == {2}


@pytest.mark.parametrize("limits", [{"as": 4 << 30}, {"fsize": 1 << 20}],
                         ids=["address_space", "file_size"])
def test_a_small_limit_gives_a_small_pool(build, limits):
    with Session(build, pool=16 << 30, slots=16) as session:
        session.run([*limited(**limits), build / "tests/core/hostile"])
        segment, = session.kind("segment", "hostile")
        assert 4 <= segment["block_count"] < (16 << 30) / 65536
        assert session.counts("hostile") == (20, 20, 0)


def test_a_file_size_limit_too_small_for_any_pool_means_no_recording(build):
    with Session(build) as session:
        session.run([*limited(fsize=4096), build / "tests/core/hostile"])
        assert not session.kind("segment", "hostile")


@ROOT_ONLY
def test_a_full_memory_file_system_gives_drops_and_no_sigbus(build, work, run):
    """The session is on a tmpfs of 1 MiB. The pool's file has its full length, but the tmpfs has
    too little memory to back it."""
    run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", work], status=None)
    if not os.path.ismount(work):
        pytest.skip("cannot mount a tmpfs")
    try:
        with Session(build, under=work, block=262144, pool=64 << 20, wait=0) as session:
            session.run([build / "tests/core/hostile", *["thread"] * 12])
            seen, recorded, dropped = session.counts("hostile")
            assert seen == recorded + dropped == 20 + 12 * 40
            assert dropped > 0 and recorded > 0
    finally:
        run(["umount", work])


def test_a_session_of_another_version_is_left_alone(build):
    with Session(build, version=99) as session:
        session.run([build / "tests/core/hostile"])
        assert not session.kind("segment")


def test_a_stopped_session_starts_nothing(build):
    with Session(build) as session:
        session.stop()
        session.run([build / "tests/core/hostile"])
        assert not session.kind("segment")
