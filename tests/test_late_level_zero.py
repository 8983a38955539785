# SPDX-License-Identifier: MIT
"""Test attaching to a Level Zero program that is already running, with the distribution's loader
and the software driver. The program counts its own calls (tests/level_zero/lz_late.c).

A session is made by `gputap run` of a shell, which waits. The program under test calls
gputap_attach() itself."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import REPO, run_command
from test_level_zero import counts, environment, level_zero  # noqa: F401 (fixtures)
from test_level_zero_attach import (AFTERWARDS, loader, static_program,  # noqa: F401 (fixtures)
                                    two_drivers)

# what the capture names as missing
PLAIN = ("times of commands in command list 0x..: their events have no times, because they were "
         "created before gputap attached, or for other processes")
EARLIER = "commands and times of command list 0x..: recorded before gputap attached"
OPEN = "earlier commands of command list 0x..: the list was open when gputap attached"


class Session:
    """A session that waits for programs to attach."""

    def __init__(self, gputap, name, options=(), env=None):
        self.name = name
        self.process = subprocess.Popen(
            [gputap, "run", "-q", "-f", "-o", name, *options, "sh", "-c",
             "echo $GPUTAP_SESSION; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=os.environ | (env or {}))
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
    """Return a function: sessions(name, options..., env=...) starts a session."""
    made = []

    def make(name="r.gputap", *options, env=None):
        # the software driver itself calls OpenCL
        made.append(Session(gputap, name, options or ["-d", "level_zero"], env))
        return made[-1]

    yield make
    for session in made:
        session.process.kill()
        session.process.communicate()


@pytest.fixture
def attach_to(gputap, work):
    """Return a function: attach_to(program, capture, env) attaches with the command, and returns
    the command, which ends after `gputap detach`."""
    made = []

    def make(program, name, env=None):
        made.append(subprocess.Popen(
            [gputap, "attach", str(program.process.pid), "-f", "-o", name],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=os.environ | (env or {})))
        assert "attached to" in made[-1].stderr.readline()
        return made[-1]

    yield make
    for command in made:
        command.kill()
        command.communicate()


@pytest.fixture(scope="session")
def late_program(level_zero):  # noqa: F811
    program = level_zero / "lz_late"
    run_command(["cc", "-O1", "-g", "-Wall", "-Wextra", "-Werror",
                 REPO / "tests/level_zero/lz_late.c", "-o", program, "-ldl", "-lpthread"])
    return program


@pytest.fixture
def programs(late_program, build, work):
    """Return a function: programs(env) starts the program."""
    driver = build / "soft/level_zero/libze_soft.so"
    if not driver.exists():
        pytest.skip("needs the software driver, which is built where Level Zero's headers are")
    made = []

    def make(drivers=1, folder=None, **env):
        paths = [driver]
        if drivers > 1:
            paths.append(work / "libother_soft.so")
            shutil.copy(driver, paths[1])
        made.append(Program([late_program, build / "libgputap.so.0",
                             *([folder] if folder else [])],
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


LAYERS = [{}, {"ZE_ENABLE_TRACING_LAYER": "1"}, {"ZE_ENABLE_VALIDATION_LAYER": "1"},
          {"ZE_ENABLE_LOADER_INTERCEPT": "1"}]


@pytest.mark.parametrize("env", LAYERS)
@pytest.mark.parametrize("drivers", [1, 2])
def test_every_call_after_the_attach_is_recorded_once(
        sessions, programs, tap, loader, env, drivers):  # noqa: F811
    program, session = programs(drivers, **env, **loader), sessions()
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


@pytest.fixture
def attached(sessions, programs):
    """Return a program to which a session has attached, and that session."""
    program, session = programs(), sessions()
    assert program("attach " + session.folder) == "0"
    program.counts()
    return program, session


def late(tap, name="r.gputap"):
    """Return what the capture names as missing, without addresses."""
    return [re.sub("0x[0-9a-f]+", "0x..", event["text"]) for event in info(tap, name)["events"]
            if event["event"] == "attached late"]


def rows(tap, name="r.gputap"):
    tap("export", "-f", name, "-o", "r.json")
    return [e for e in json.loads(pathlib.Path("r.json").read_text())["traceEvents"]
            if e.get("cat") in ("kernel", "gpu_memcpy")]


@pytest.mark.parametrize("commands, count, untimed, names", [
    # lists and queues that existed
    (["immediate old 3 bare"], 3 * 3, 0, []),
    (["immediate old 3 timed"], 3 * 3, 0, []),
    (["immediate old 3 plain"], 3 * 3, 3, [PLAIN]),
    (["immediate old 3 fresh"], 3 * 3, 0, []),
    (["immediate new 3 timed"], 3 * 3, 0, []),
    (["immediate new 3 plain"], 3 * 3, 3, [PLAIN]),
    (["run new 3"], 3 * 2, 0, []),
    (["run reset 3"], 3 * 2, 0, []),
    # what was recorded earlier is one activity
    (["run old 3"], 3, 3, [EARLIER]),
    (["run old 3", "run reset 2"], 3 + 2 * 2, 3, [EARLIER]),
    (["run open 3"], 3, 0, [OPEN]),
])
def test_work_on_objects_that_existed_is_recorded(
        attached, tap, commands, count, untimed, names):
    program, session = attached
    for command in commands:
        program(command)
    mine = program.counts()
    program.end()
    session.end()
    assert calls(tap) == mine
    found = info(tap)
    assert found["activities"] == found["linked"] == count
    assert found["untimed"] == untimed and found["seen"] == found["recorded"]
    assert late(tap) == names
    kernels = [e for e in rows(tap) if e["cat"] == "kernel"]
    assert {e["name"] for e in kernels} <= {"increase", "command buffer"}


def test_copies_of_memory_that_was_allocated_earlier_have_their_direction(attached, tap):
    program, session = attached
    program("directions 3")
    program.end()
    session.end()
    names = [e["name"] for e in rows(tap) if e["cat"] == "gpu_memcpy"]
    assert sorted(name.split()[1] for name in names) == ["DtoH"] * 3 + ["HtoD"] * 3


def test_the_group_size_of_an_earlier_kernel_is_known_once_the_program_sets_it(attached, tap):
    program, session = attached
    program("immediate old 1 bare")
    program("remake")
    program("immediate old 1 bare")
    program.end()
    session.end()
    blocks = [e["args"].get("block") for e in rows(tap) if e["cat"] == "kernel"]
    assert blocks == [None, [32, 1, 1]]


def test_after_a_detach_nothing_is_recorded_and_a_second_session_is_complete(
        sessions, programs, tap):
    program, first = programs(), sessions("first.gputap")
    assert program("attach " + first.folder) == "0"
    program.counts()
    program("run reset 2")
    program("immediate old 2 bare")
    mine = program.counts()
    first.end()
    # not recorded: objects are created, and a list is recorded again
    program("immediate new 2 fresh")
    program("remake")
    program("append")
    program("again 2")
    second = sessions("second.gputap")
    assert program("attach " + second.folder) == "0"
    program.counts()
    program("again 3")  # with commands of the time between
    program("immediate old 2 timed")
    program("run new 2")
    program("run reset 1")
    mine_in_second = program.counts()
    assert program("value") == str(2 + 2 + 2 + 2 + 3 + 2 + 2 + 1)
    program.end()
    second.end()
    assert calls(tap, "first.gputap") == mine
    assert calls(tap, "second.gputap") == mine_in_second
    found = info(tap, "first.gputap")
    assert found["activities"] == found["linked"] == 2 * 2 + 2 * 3 and found["untimed"] == 0
    found = info(tap, "second.gputap")
    assert found["activities"] == found["linked"] == 3 + 2 * 3 + 2 * 2 + 2
    assert found["untimed"] == 3 and late(tap, "second.gputap") == [EARLIER]
    assert [d["name"] for d in found["devices"]] == [
        d["name"] for d in info(tap, "first.gputap")["devices"]]
    assert {e["name"] for e in rows(tap, "second.gputap") if e["cat"] == "kernel"} == {
        "increase", "command buffer"}


ATTACHES = 200


def test_threads_that_launch_kernels_are_not_disturbed_by_attaches(sessions, programs, tap):
    """Each attach and detach happens while the threads launch kernels. The kernels count their
    launches, and the last session is complete."""
    program = programs()
    program("start")
    for i in range(ATTACHES):
        session = sessions(f"{i}.gputap", "--ops", "zeCommandListAppendLaunchKernel")
        assert program("attach " + session.folder) == "0"
        session.end()
    last = sessions()
    assert program("attach " + last.folder) == "0"
    launches = int(program("join"))
    program.counts()
    program("immediate old 5 bare")
    mine = program.counts()
    program.end()
    last.end()
    found = info(tap)
    assert launches > 0 and found["seen"] == found["recorded"]
    assert found["activities"] == found["linked"] > 5 * 3
    assert calls(tap)["zeCommandListAppendMemoryCopy"] == mine["zeCommandListAppendMemoryCopy"]


def test_a_loader_that_is_opened_after_the_attach_is_recorded(sessions, programs, tap):
    session = sessions()
    program = programs(folder=session.folder)
    program("immediate old 3 plain")
    program("run old 2")
    mine = program.counts()
    program.end()
    session.end()
    mine.pop("zeInit"), mine.pop("zeDriverGet")  # the loader calls these functions as well
    assert {name: n for name, n in calls(tap).items() if name in mine} == mine
    found = info(tap)
    assert found["activities"] == found["linked"] == 3 * 3 + 2 * 2 and found["untimed"] == 0
    assert late(tap) == []


def test_a_function_that_the_program_got_by_its_name_is_recorded(sessions, programs, tap):
    program, session = programs(SOFT_LEVEL_ZERO_COUNTER_EVENTS="1"), sessions()
    program("named 2")
    assert program("attach " + session.folder) == "0"
    program("named 3")
    program.end()
    session.end()
    assert calls(tap) == {"zexCounterBasedEventCreate2": 3, "zeEventDestroy": 3}


def test_after_a_detach_events_are_created_without_additions(sessions, programs, tap):
    """While a session records, events have times even if the program does not request times."""
    program, first = programs(), sessions("first.gputap")
    assert program("attach " + first.folder) == "0"
    program("events")
    program("immediate old 2 plain")
    first.end()
    program("events")
    second = sessions("second.gputap")
    assert program("attach " + second.folder) == "0"
    program("immediate old 2 plain")
    program.end()
    second.end()
    found = [info(tap, name) for name in ("first.gputap", "second.gputap")]
    assert [f["activities"] for f in found] == [6, 6]
    assert [f["untimed"] for f in found] == [0, 2]
    assert late(tap, "second.gputap") == [PLAIN]


def test_what_is_complete_at_a_detach_is_recorded_even_if_the_program_has_not_waited(
        attach_to, programs, tap):
    program = programs(SOFT_LEVEL_ZERO_THREADS="0")
    command = attach_to(program, "r.gputap")
    program.counts()
    program("launch 5")
    mine = program.counts()
    tap("detach", str(program.process.pid))
    command.wait()
    program.end()
    found = info(tap)
    assert calls(tap) == mine == {"zeCommandListAppendLaunchKernel": 5}
    assert found["activities"] == found["linked"] == 5 and found["untimed"] == 0
    assert found["seen"] == found["recorded"]


# With the counting driver of tests/level_zero, whose API is older --------------------------------

UNKNOWN = ("created before gputap attached, and the driver reports neither its context nor its "
           "device")


@pytest.fixture
def attach(run, build, environment, sessions, level_zero):  # noqa: F811
    """Return a function: attach(words..., env=..., program=...) runs a program that attaches to a
    session."""
    def run_it(*words, env=None, program=None):
        session = sessions()
        result = run([program or level_zero / "lz_program", *words], env=environment | (env or {}) |
                     {"LZ_ATTACH": f"{build}/libgputap.so.0 {session.folder}"})
        session.end()
        return result.out

    return run_it


def test_objects_that_an_older_driver_does_not_describe_are_named(attach, tap):
    attach("earlier", "3")
    made = calls(tap)
    assert made["zeCommandListAppendLaunchKernel"] == 3 * 2 + 2
    assert made["zeCommandQueueExecuteCommandLists"] == 4
    found = info(tap)
    # the queue is known once a list that was created afterwards runs on it
    assert found["activities"] == found["linked"] == 5 and found["untimed"] == 0
    assert sorted(late(tap)) == [f"GPU activities of command list 0x..: {UNKNOWN}"] * 2 + [
        f"GPU activities of queue 0x..: {UNKNOWN}"]


@pytest.mark.parametrize("how", ["1", "read-only"])
def test_calls_through_tables_of_handles_are_recorded_after_an_attach(
        attach, tap, two_drivers, how):  # noqa: F811
    attach("immediate", "3", env=two_drivers | {"LZ_HANDLES": how})
    assert calls(tap)["zeCommandListAppendLaunchKernel"] == 2 * 6
    found = info(tap)
    assert found["activities"] == found["linked"] == 32 and found["untimed"] == 0


def test_a_program_with_a_loader_in_it_is_recorded_after_an_attach(
        attach, tap, static_program, loader, work):  # noqa: F811
    attach("immediate", "5", env=loader, program=static_program)
    made, driver = calls(tap), counts(work)
    assert {name: made.get(name) for name in AFTERWARDS} == {
        name: driver[name] for name in AFTERWARDS}
    found = info(tap)
    assert found["activities"] == found["linked"] > 0 and found["untimed"] == 0
