# SPDX-License-Identifier: MIT
"""Test a `gputap run` that tools/test-deep built with a sanitizer: the control code causes no
sanitizer report while two threads, snapshots, triggers and signals are active at once."""
import json
import os
import pathlib
import signal
import subprocess

import pytest

import conftest
import control_programs
from control_programs import control, status  # noqa: F401 fixtures

COMMANDS = [["stop", "-q"], ["start", "-q"], ["status"], ["snapshot", "-q"]]
OPTIONS = ["--wait", "--keep", "5s", "--trigger", "failed", "--trigger", "duration>10us",
           "--keep-after", "100ms", "--snapshot-signal", "USR2", "--start-signal", "USR1",
           "--stop-signal", "USR1", "--duration", "300ms", "--host-state", "1ms",
           "--sample-host=1ms"]


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    return control_programs.Program("refdev", build, tmp_path_factory.mktemp("sanitizers"))


@pytest.mark.parametrize("kind", conftest.KINDS)
def test_sanitizer_has_nothing_to_say(build, program, tap, work, kind):
    """The gputap commands, and the libraries loaded into the program, come from the plain build."""
    folder = build if kind == "plain" else conftest.REPO / f"build-{kind}"
    with control_programs.Session(folder / "gputap", program, *OPTIONS, env={
        **conftest.SANITIZERS_STOP, "GPUTAP_LIBRARY_PATH": str(build),
        "TSAN_OPTIONS": "exitcode=66"}) as s:
        s.tell("run a 1", "spawn 10")
        asked = []
        for turn in range(10):
            asked += [subprocess.Popen([build / "gputap", *words, str(s.pid)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                      for words in COMMANDS]
            if turn % 5 == 0:
                os.kill(s.pid, signal.SIGUSR1)
                os.kill(s.pid, signal.SIGUSR2)
            for process in asked[-8:-4]:
                process.wait(conftest.HANGS_SECONDS)
        for process in asked:
            process.wait(conftest.HANGS_SECONDS)
        pathlib.Path("stop").touch()
        s.tell("wait", "storm 30")
        s.end()
    assert "Sanitizer" not in s.err and "runtime error" not in s.err, s.err
    tap("report", "--all", "w.gputap")


def find_names_child(s, program):
    """Return the pid of the process that looks up line numbers for `gputap run`, whose only other
    child is @program."""
    children = pathlib.Path(f"/proc/{s.pid}/task").glob("*/children")
    found = [int(pid) for path in children for pid in path.read_text().split()]
    return next((pid for pid in found if pid != program), None)


@pytest.mark.parametrize("kind", conftest.KINDS)
def test_processes_that_end_while_names_are_looked_up_are_forgotten(
        build, program, status, tap, work, strange_libdw, kind):
    """During the lookup, a child of `gputap run` holds copies of all its parent's descriptors."""
    folder = build if kind == "plain" else conftest.REPO / f"build-{kind}"
    with control_programs.Session(folder / "gputap", program, "--wait", "--stacks=lines:60s", env={
        **conftest.SANITIZERS_STOP, "GPUTAP_LIBRARY_PATH": str(build),
        "TSAN_OPTIONS": "exitcode=66", **strange_libdw("for (;;) pause()")}) as s:
        s.tell("run a 1", "spawn 10")
        control_programs.wait_until(lambda: status(s)["kernels"] > 100)
        asked = subprocess.Popen([build / "gputap", "snapshot", "-q", str(s.pid)])
        pid = status(s)["pid"]
        control_programs.wait_until(lambda: find_names_child(s, pid))
        pathlib.Path("stop").touch()
        s.tell("wait", "storm 30")
        control_programs.wait_until(lambda: status(s)["processes"] == 1)
        os.kill(find_names_child(s, pid), signal.SIGKILL)
        assert asked.wait(conftest.HANGS_SECONDS) == 0
        s.begin("exit")
        control_programs.wait_until(lambda: find_names_child(s, pid))
        os.kill(find_names_child(s, pid), signal.SIGKILL)
        s.end()
    assert "Sanitizer" not in s.err and "runtime error" not in s.err, s.err
    tap("report", "--all", "w.gputap")


@pytest.mark.parametrize("option", ["--start-signal", "--stop-signal", "--snapshot-signal"])
def test_a_signal_of_the_session_that_comes_late_does_not_end_it(build, program, status, tap, work,
                                                                 strange_libdw, option):
    """The signal arrives after the program has ended, while gputap looks up names for the
    capture."""
    with control_programs.Session(build / "gputap", program, "--stacks=lines:60s", option, "USR1",
                                  env=strange_libdw("for (;;) pause()")) as s:
        s.tell("run a 1")
        pid = status(s)["pid"]
        s.begin("exit")
        control_programs.wait_until(lambda: find_names_child(s, pid))
        os.kill(s.pid, signal.SIGUSR1)
        os.kill(find_names_child(s, pid), signal.SIGKILL)
        s.end()
    assert json.loads(tap("info", "w.gputap", "--json").out)["end"] == "complete"
