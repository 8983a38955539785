# SPDX-License-Identifier: MIT
"""Test attaching to a Level Zero program that is already running, with the distribution's loader
and the software driver. The program counts its own calls (tests/level_zero/lz_late.c).

A session is made by `gputap run` of a shell, which waits. The program under test calls
gputap_attach() itself."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import REPO, run_command
from test_level_zero import HEADERS, level_zero  # noqa: F401 (fixture)


class Session:
    """A session that waits for programs to attach."""

    def __init__(self, gputap, name, options=()):
        self.name = name
        self.process = subprocess.Popen(
            [gputap, "run", "-q", "-f", "-o", name, *options, "sh", "-c",
             "echo $GPUTAP_SESSION; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        self.folder = self.process.stdout.readline().strip()

    def end(self):
        self.process.communicate("\n")
        assert self.process.returncode == 0


class Program:
    """A running program that obeys commands."""

    def __init__(self, command, env):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=os.environ | env)
        assert self.process.stdout.readline() == "ready\n"

    def __call__(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def counts(self):
        return {name: int(n) for name, n in (word.split("=") for word in self("counts").split())}

    def end(self):
        self.process.communicate("quit\n")
        assert self.process.returncode == 0


@pytest.fixture
def sessions(gputap, work):
    """Return a function: sessions(name, options) starts a session."""
    made = []

    def make(name="r.gputap", *options):
        made.append(Session(gputap, name, options))
        return made[-1]

    yield make
    for session in made:
        session.process.kill()
        session.process.communicate()


@pytest.fixture(scope="session")
def late_program(level_zero):  # noqa: F811
    program = level_zero / "lz_late"
    run_command(["cc", "-O1", "-g", "-Wall", "-Wextra", "-Werror",
                 REPO / "tests/level_zero/lz_late.c", "-o", program, "-Wl,--no-as-needed",
                 "-lze_loader", "-ldl", "-lpthread"])
    return program


@pytest.fixture
def programs(late_program, build, work):
    """Return a function: programs(env) starts the program."""
    driver = build / "soft/level_zero/libze_soft.so"
    if not driver.exists():
        pytest.skip("needs the software driver, which is built where Level Zero's headers are")
    made = []

    def make(drivers=1, **env):
        paths = [driver]
        if drivers > 1:
            paths.append(work / "libother_soft.so")
            shutil.copy(driver, paths[1])
        made.append(Program([late_program, build / "libgputap.so.0"],
                            {"ZE_ENABLE_ALT_DRIVERS": ",".join(map(str, paths))} | env))
        return made[-1]

    yield make
    for program in made:
        program.process.kill()
        program.process.communicate()


def info(tap, name="r.gputap"):
    return json.loads(tap("info", "--json", name).out)


def calls(tap, name="r.gputap"):
    rows = json.loads(tap("report", "--json", "--top", "0", name).out)["operations"]
    return {o["name"]: o["calls"] for o in rows}


def activities(tap, name="r.gputap"):
    """Return {(name, device operation): (count, untimed)}."""
    tap("export", "-f", name, "-o", "r.csv")
    return pathlib.Path("r.csv").read_text()


LAYERS = [{}, {"ZE_ENABLE_TRACING_LAYER": "1"}, {"ZE_ENABLE_VALIDATION_LAYER": "1"},
          {"ZE_ENABLE_LOADER_INTERCEPT": "1"}]


@pytest.mark.parametrize("env", LAYERS)
@pytest.mark.parametrize("drivers", [1, 2])
def test_every_call_after_the_attach_is_recorded_once(sessions, programs, tap, env, drivers):
    program, session = programs(drivers, **env), sessions()
    program("immediate new 3 bare")
    assert program("attach " + session.folder) == "0"
    program.counts()
    program("immediate new 5 bare")
    program("run new 4")
    mine = program.counts()
    program.end()
    session.end()
    assert calls(tap) == mine and mine["zeCommandListAppendLaunchKernel"] == 6 * drivers
    found = info(tap)
    assert found["activities"] == found["linked"] == (5 * 3 + 4 * 2) * drivers
    assert found["untimed"] == 0 and found["seen"] == found["recorded"]
