# SPDX-License-Identifier: MIT
"""Windows of recording, and who opens and closes them: gputap start, stop and status, options of
gputap run, signals, the program itself."""
import collections
import csv
import json
import os
import signal
import subprocess
import time

import pytest

import conftest


@pytest.fixture(scope="session")
def program(repo, build, tmp_path_factory):
    path, library = tmp_path_factory.mktemp("windows") / "windows_program", build / "soft/refdev"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{repo}", f"-I{repo}/include",
        repo / "tests/refdev/windows_program.c", "-o", path, library / "librefdev.so.1",
        f"-L{build}", "-l:libgputap.so.0", f"-Wl,-rpath,{library}:{build}"
    ],
                   check=True)
    return path


class Session:
    """gputap run around a program that does what it is told, line by line."""
    def __init__(self, gputap, program, *options, env=None):
        environment = {**conftest.clean_environment(), **(env or {})}
        self.process = subprocess.Popen(
            [gputap, "run", "-o", "w.gputap", *options, "--", program], text=True, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        self.pid = self.process.pid

    def tell(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "ok\n", self.process.stderr.read()

    def begin(self, line):
        """Without waiting for its end."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self, status=0):
        out, self.err = self.process.communicate(timeout=conftest.HANGS_SECONDS)
        assert self.process.returncode == status, self.err
        return out


@pytest.fixture
def session(gputap, program, work):
    sessions = []

    def begin(*options, env=None):
        sessions.append(Session(gputap, program, *options, env=env))
        return sessions[-1]
    yield begin
    for s in sessions:
        if s.process.poll() is None:
            conftest.end_group(s.process)


@pytest.fixture
def control(tap):
    """gputap start, stop or status of a session, named by its process."""
    def ask(command, s, *options, **keywords):
        return tap(command, *options, str(s.pid), **keywords)
    return ask


@pytest.fixture
def status(control):
    def read(s):
        return json.loads(control("status", s, "--json").out)["sessions"][0]
    return read


@pytest.fixture
def recorded(tap):
    """What the capture has: kernels by name; and that no count is short."""
    def read():
        info = json.loads(tap("info", "--json", "w.gputap").out)
        assert info["seen"] == info["recorded"] + info["dropped"] and not info["dropped"], info
        tap("export", "-f", "w.gputap", "-o", "w.csv")
        with open("w.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        return collections.Counter(r["name"] for r in rows if r["kind"] == "device")
    return read


def test_stop_and_start_from_another_terminal(session, control, status, recorded):
    s = session()
    s.tell("run a 3")
    assert status(s)["state"] == "recording"
    control("stop", s)
    assert status(s)["state"] == "paused"
    s.tell("run b 5")
    control("start", s)
    s.tell("run c 7")
    s.end()
    assert recorded() == {"a": 3, "c": 7}
