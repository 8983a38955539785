# SPDX-License-Identifier: MIT
"""Test the harness itself: it fails tests that leak, hang, crash, or skip without being listed, and
lists the slowest tests."""

import shutil
import signal
import subprocess
import sys

import pytest

import conftest
from processes import wait_until

UNIT_BAD = r"""
#include <unistd.h>
#include "unit.h"
UNIT_TEST(values_are_shown) { int three = 3; CHECK_EQ(three, 4); }
UNIT_TEST(a_descriptor_is_left) { CHECK(dup(1) >= 0); }
UNIT_TEST(a_child_is_left) { if (fork() == 0) pause(); }
UNIT_TEST_SECONDS(it_hangs, 1) { pause(); }
UNIT_TEST(it_crashes) { raise_it(); }
UNIT_TEST(good) { CHECK_STR("a", "a"); }
UNIT_TEST(not_here) { unit_skip("no such device"); }
"""


def bad_unit_program(repo, run, work):
    source = work / "bad.c"
    source.write_text(UNIT_BAD.replace("raise_it()", "*(volatile int *)8 = 1"))
    run([
        "gcc", "-D_GNU_SOURCE", "-w", f"-I{repo}/tests/unit", source, repo / "tests/unit/unit.c",
        "-o", work / "bad"
    ])
    return work / "bad"


def test_unit_runner_fails_what_must_fail_and_says_why(repo, run, work):
    program = bad_unit_program(repo, run, work)
    for name, text in (("values_are_shown", "three == 4: 3 and 4"),
                       ("a_descriptor_is_left", "leaves 1 descriptors open"),
                       ("a_child_is_left", "leaves a child process behind"),
                       ("it_hangs", "took over 1 s"),
                       ("it_crashes", "Segmentation fault")):
        result = run([program, name], status=1)
        assert text in result.out + result.err
        assert f"FAIL {name}" in result.out


def test_unit_runner_passes_and_skips_what_must(repo, run, work):
    program = bad_unit_program(repo, run, work)
    assert "ok good" in run([program, "good"]).out
    assert "no such device" in run([program, "not_here"], status=77).err
    assert run([program, "--list"]).out.split()[0] == "values_are_shown"
    assert "no test named nothing" in run([program, "nothing"], status=2).err
    run([program], status=1)


BAD_TESTS = """
import os, subprocess, pytest
def test_leaves_a_descriptor(): os.dup(1)
def test_leaves_a_process(): subprocess.Popen(["sleep", "100"], start_new_session=True)
def test_leaves_an_orphan(): subprocess.run(["sh", "-c", "sleep 100 &"])
def test_leaves_a_session_folder(tmp_path):
    folder = f"/dev/shm/gputap-harness-{os.getpid()}"
    os.mkdir(folder)
    open(f"{folder}/output", "w").write(f"{tmp_path}/x.gputap")
def test_skips_unlisted(): pytest.skip("because")
def test_good(): pass
"""


def test_pytest_side_fails_leaks_and_unlisted_skips(repo, run, work):
    (work / "tests").mkdir()
    (work / "tests" / "skips.txt").write_text("")
    (work / "tests" / "conftest.py").write_text(
        (repo / "tests" / "conftest.py").read_text().replace("LEAVING_SECONDS = 30",
                                                             "LEAVING_SECONDS = 1"))
    shutil.copy(repo / "tests/slowest_tests.py", work / "tests")
    (work / "tests" / "test_bad.py").write_text(BAD_TESTS)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
    finally:
        run(
            [
                "sh",
                "-c",
                (
                    f"grep -l '^{work.parent}' /dev/shm/gputap-harness-*/output | while read f; do"
                    " rm -r ${f%/output}; done"
                ),
            ]
        )
        run(["sh", "-c", "rm -rf /dev/shm/gputap-harness-*"])
    for text in ("descriptor ", "sleep 100", "session folder is still there",
                 "not listed in tests/skips.txt: Skipped: because"):
        assert text in done.stdout, done.stdout
    assert (
        "5 passed" in done.stdout and "1 failed, " in done.stdout and "4 errors" in done.stdout
    ), done.stdout


def test_a_report_of_the_undefined_behaviour_sanitizer_stops_the_program(run, work):
    source = work / "overflow.c"
    source.write_text("int main(int argc, char **argv) { return (argc + 0x7fffffff) * !argv; }\n")
    run(["gcc", "-fsanitize=undefined", source, "-o", work / "overflow"])
    result = run([work / "overflow"], status=1, env=conftest.SANITIZERS_STOP)
    assert "runtime error: signed integer overflow" in result.err


MOODY_TESTS = """
import pathlib, pytest
def again(name):
    path = pathlib.Path(name)
    seen = path.exists()
    path.touch()
    return seen
@pytest.fixture
def torn():
    yield
    assert again("corrupt")
def test_fails_first(): assert again("first")
def test_is_torn_down_badly_first(torn): pass
@pytest.mark.parametrize("what", ["a b", "c/d"])
def test_fails(what): assert what != BAD
def test_skips(): pytest.skip("because")
def test_passes(): pass
@pytest.mark.parametrize("number", range(MANY))
def test_many(number): assert again(f"many{number}")
"""


@pytest.mark.parametrize(
    "bad, many, status, last, told",
    [("nothing", 1, 0, "6 passed, 0 failed, 1 skipped", "3 tests passed only when run alone: "),
     ("c/d", 1, 1, "5 passed, 1 failed, 1 skipped", "3 tests passed only when run alone: "),
     ("nothing", 30, 1, "31 failed, ", "")])
def test_what_fails_among_others_runs_once_more_alone(repo, run, work, bad, many, status, last,
                                                      told):
    (work / "tests").mkdir()
    (work / "tests" / "test_moody.py").write_text(
        MOODY_TESTS.replace("BAD", repr(bad)).replace("MANY", str(many)))
    out = run([sys.executable, repo / "tools/run_twice.py", "-q", "-n", "2", "tests"],
              status=status).out
    lines = out.splitlines()
    assert lines[-1].startswith(last), out
    assert ("failed twice: tests/test_moody.py::test_fails[c/d]" in lines) == (bad == "c/d")
    if told:
        assert lines[-2].startswith(told) and all(
            f"tests/test_moody.py::{name}" in lines[-2]
            for name in ("test_fails_first", "test_is_torn_down_badly_first", "test_many[0]"))
    else:
        assert "passed only when" not in out


def test_a_c_test_of_a_sanitizer_build_runs_once_more_alone(repo, run, work):
    """tools/run_twice.py runs only this test again. pytest's --last-failed would mistake the
    brackets in an item's name for parameters."""
    (work / "tests/unit").mkdir(parents=True)
    for name in ("skips.txt", "conftest.py", "slowest_tests.py"):
        (work / "tests" / name).write_text((repo / "tests" / name).read_text())
    (work / "tests/unit/moody.c").write_text("")
    for folder, test in (("build", "true"), ("build-thread", f"! mkdir {work}/seen")):
        program = work / folder / "tests/unit/moody"
        program.parent.mkdir(parents=True)
        program.write_text("#!/bin/sh\n[ $1 != --list ] || exec echo one two\n"
                           f"[ $1 = two ] || {test}\n")
        program.chmod(0o755)
    out = run([sys.executable, repo / "tools/run_twice.py", "-n", "2", "tests"],
              env={"GPUTAP_BUILD": work / "build", "GPUTAP_SANITIZE": "thread"}).out
    assert "1 tests passed only when run alone: tests/unit/moody.c::one-thread\n" in out
    assert "collected 1 item" in out and out.endswith("4 passed, 0 failed, 0 skipped\n"), out


SLOW_TESTS = """
import subprocess, pytest
@pytest.mark.parametrize("number", range(25))
def test_quick(number): pass
def test_slow_in_a_child():
    subprocess.run(["python3", "-c", "for _ in range(10**7): pass"], check=True)
"""


def test_a_run_ends_with_the_slowest_tests(repo, run, work):
    (work / "tests").mkdir()
    for name in ("skips.txt", "conftest.py", "slowest_tests.py"):
        shutil.copy(repo / "tests" / name, work / "tests")
    (work / "tests/test_some.py").write_text(SLOW_TESTS)
    out = run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", "tests"],
              env={"GPUTAP_BUILD": work}).out
    listed = out.split(" slowest 20 of 26 tests ")[1].splitlines()
    assert listed[2].endswith("tests/test_some.py::test_slow_in_a_child"), out
    assert len((work / "test-costs.txt").read_text().splitlines()) == 26


ENDLESS_TEST = """
def test_endless(tap, work):
    tap("run", "-o", "a.gputap", "sh", "-c", f"echo $$ >{work}/pid; exec sleep 10000")
"""


def test_what_a_test_has_started_ends_with_pytest(repo, build, work):
    """`timeout` and Ctrl-C end pytest, which must end gputap and its program in another process
    group."""
    (work / "tests").mkdir()
    for name in ("skips.txt", "conftest.py", "slowest_tests.py"):
        (work / "tests" / name).write_text((repo / "tests" / name).read_text())
    (work / "tests" / "test_endless.py").write_text(ENDLESS_TEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
               f"--basetemp={work}/base", "tests"]
    pytest_itself = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     env={**conftest.clean_environment(), "GPUTAP_BUILD": build})
    pid = work / "base/test_endless0/pid"
    wait_until(lambda: pid.exists() and pid.read_text().strip(), "the program")
    assert len(conftest.session_folders(work)) == 1
    pytest_itself.send_signal(signal.SIGTERM)
    pytest_itself.communicate()
    assert conftest.children().get(int(pid.read_text()), "Z") == "Z"  # this process adopts orphans
    assert not conftest.session_folders(work)


def test_a_session_of_another_name_than_utf8_is_no_error(work, monkeypatch):
    """/dev/shm contains sessions of all users."""
    monkeypatch.setattr(conftest, "SHM", work)
    for name, output in (("gputap-0-a", b"/tmp/caf\xe9.gputap"), ("gputap-0-b", b"\xff\xfe"),
                         ("gputap-0-mine", b"/mine/a.gputap")):
        (work / name).mkdir()
        (work / name / "output").write_bytes(output)
    conftest.remove_sessions_of_ended_unit_tests()
    assert conftest.session_folders("/mine") == [work / "gputap-0-mine"]
