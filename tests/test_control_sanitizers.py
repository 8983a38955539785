# SPDX-License-Identifier: MIT
"""`gputap run` built with sanitizers (tools/test builds it): no report in anything that control
does in it, from its two threads, snapshots, triggers and signals at once."""
import os
import pathlib
import signal
import subprocess

import pytest

import conftest
import control_programs

KINDS = os.environ.get("GPUTAP_SANITIZE", "").split()
COMMANDS = [["stop", "-q"], ["start", "-q"], ["status"], ["snapshot", "-q"]]
OPTIONS = ["--wait", "--keep", "5s", "--trigger", "failed", "--trigger", "duration>10us",
           "--keep-after", "100ms", "--snapshot-signal", "USR2", "--start-signal", "USR1",
           "--stop-signal", "USR1", "--duration", "300ms"]


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    return control_programs.Program("refdev", build, tmp_path_factory.mktemp("sanitizers"))


@pytest.mark.parametrize("kind", ["plain", *KINDS])
def test_sanitizer_has_nothing_to_say(build, program, tap, work, kind):
    """The commands and what is loaded into the program are those of the plain build."""
    folder = build if kind == "plain" else conftest.REPO / f"build-{kind}"
    s = control_programs.Session(folder / "gputap", program, *OPTIONS, env={
        **conftest.SANITIZERS_STOP, "GPUTAP_LIBRARY_PATH": str(build),
        "TSAN_OPTIONS": "exitcode=66"})
    try:
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
    finally:
        if s.process.poll() is None:
            conftest.end_group(s.process)
    assert "Sanitizer" not in s.err and "runtime error" not in s.err, s.err
    tap("report", "w.gputap")
