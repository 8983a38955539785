# SPDX-License-Identifier: MIT
"""Test that gputap attaches to a running CUDA program, with the driver and CUPTI in software: every
call and every GPU activity after the attach is recorded, whatever address the program calls, and
the program is left as it was."""
import contextlib
import json
import subprocess
import time

import pytest

from conftest import BUILD, REPO, clean_environment

ROUNDS = 40


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("late_cuda")
    common = ["cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{REPO}", f"-I{BUILD}"]
    for command in ([
            *common, "-shared", "-fPIC", REPO / "tests/cuda/driver_kernels.c", "-o",
            folder / "kernels.so"
    ], [*common, REPO / "tests/cuda/late_program.c", "-o", folder / "program", "-lpthread",
            "-ldl"
    ], [*common, "-shared", "-fPIC", REPO / "tests/cuda/late_profiler.c", "-o",
            folder / "libtorch_cpu.so", "-Wl,-soname,libtorch_cpu.so",
            build / "soft/cuda/cupti/libcupti.so.13"]):
        subprocess.run(list(map(str, command)), check=True)
    return [folder / "program", folder / "kernels.so"]


class Program:
    """The program, which answers each command with a line."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(list(map(str, command)), text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE,
                                        env=clean_environment() | (environment or {}))
        assert self.answer() == "ready"

    def answer(self):
        return self.process.stdout.readline().strip()

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def work(self, rounds=ROUNDS):
        return json.loads(self.say("work", rounds))

    def attach(self, session, word="attach"):
        return int(self.say(word, BUILD / "libgputap.so.0", session.folder))

    def profile(self):
        """Start the profiler. It stops at say("stop"), which returns its number of kernels."""
        library = self.process.args[-1].replace("kernels.so", "libtorch_cpu.so")
        assert self.say("profile", library) == "0"

    def finish(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0


class Session:
    """A session of gputap, which its own program ends."""

    def __init__(self, gputap, run, path, options=()):
        self.gputap, self.run, self.path = gputap, run, path
        self.process = subprocess.Popen(
            [gputap, "run", "-q", "-f", "-o", path, *options, "--", "sh", "-c",
             "echo $GPUTAP_SESSION; read -r line"],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment())
        self.folder = self.process.stdout.readline().strip()
        assert self.folder

    def end(self):
        time.sleep(1)  # CUPTI's records are read ten times a second
        self.process.communicate("end\n", timeout=60)
        assert self.process.returncode == 0
        return json.loads(self.run([self.gputap, "report", "--json", "--top", "0", self.path]).out)

    def table(self, name):
        out = self.run([self.gputap, "report", "--json", "-t", name, self.path]).out
        return json.loads(out)[name]

    def info(self):
        return json.loads(self.run([self.gputap, "info", "--json", self.path]).out)

    def events(self):
        return [event["text"] for event in self.info()["events"]]


@pytest.fixture
def begin(gputap, run, work):
    """Return a function: begin("a.gputap", *options) starts a session."""
    with contextlib.ExitStack() as stack:

        def call(path, *options):
            session = Session(gputap, run, path, options)
            stack.callback(session.process.kill)
            return session

        yield call


@pytest.fixture
def start(gputap, program, work):
    """Return a function that starts the program: start("--cupti", "none", env={..})."""
    with contextlib.ExitStack() as stack:

        def call(*soft, env=None):
            new = Program([gputap, "soft", "cuda", *soft, "--", *program], env)
            stack.callback(new.process.kill)
            return new

        yield call


def calls(report):
    return {row["name"]: row["calls"] for row in report["operations"]}


def copies(report):
    sets = sum(row["count"] for row in report["copies"] if row["operation"] == "memset")
    return sum(row["count"] for row in report["copies"]) - sets, sets


def kernels(report):
    return sum(row["count"] for row in report["kernels"])


def check(report, said):
    """Compare a report with the program's own counts."""
    assert calls(report) == said["calls"]
    assert kernels(report) == said["kernels"]
    assert copies(report) == (said["copies"], said["sets"])
    assert report["linked"] == report["activities"]
    assert report["dropped"] == 0


def test_every_call_and_activity_after_the_attach_is_recorded_once(start, begin):
    program, session = start(), begin("a.gputap")
    program.work()
    assert program.attach(session) == 0
    said = program.work()
    check(session.end(), said)
    assert session.events() == []
    program.finish()


@pytest.mark.parametrize("version", ["11.8", "12.9", "13.5"])
def test_every_release_of_cupti_gives_the_calls(start, begin, version):
    program, session = start("--cupti", version), begin("a.gputap")
    assert program.attach(session) == 0
    said = program.work()
    check(session.end(), said)
    program.finish()


def test_a_graph_instantiated_before_has_its_launches_and_nodes(start, begin):
    program, session = start(), begin("a.gputap")
    assert program.attach(session) == 0
    said = program.work()
    session.end()
    (graph, ) = session.table("graphs")
    assert graph["launches"] == said["calls"]["cuGraphLaunch"]
    program.finish()


def test_memory_allocated_before_is_not_counted_when_it_is_freed(start, begin):
    program, session = start(), begin("a.gputap")
    assert program.attach(session) == 0
    assert program.say("free") == "0"
    program.work()
    session.end()
    (row, ) = session.table("memory")
    assert row["memory"] == "device" and row["peak_bytes"] <= 2000
    program.finish()


def test_sessions_follow_each_other_and_leave_nothing_between(start, begin):
    program = start()
    for number in range(3):
        session = begin(f"{number}.gputap")
        assert program.attach(session) == 0
        said = program.work()
        check(session.end(), said)
        (device, ) = session.info()["devices"]
        assert device["name"] == "gputap software CUDA device"
        assert program.say("wait") == "waited"
        program.work()
    program.finish()


def test_a_session_that_attaches_before_the_former_left_cupti_gets_everything(start, begin):
    program = start()
    for number in range(3):
        session = begin(f"{number}.gputap")
        assert program.attach(session) == 0
        said = program.work()
        check(session.end(), said)
    program.finish()


def test_without_cupti_calls_through_objects_are_recorded_and_the_rest_is_named(start, begin):
    program = start(env={"GPUTAP_CUPTI": "/nonexistent"})
    session = begin("a.gputap")
    assert program.attach(session) == 0
    said = program.work()
    report = session.end()
    found = calls(report)
    for name, count in said["calls"].items():
        assert found[name] == 2 * count // 3  # two of three tables
    assert report["activities"] == 0
    texts = session.events()
    assert any("cannot open /nonexistent" in text for text in texts)
    assert any("outside of its libraries' data" in text for text in texts)
    program.finish()


def test_no_device_asks_nothing_of_cupti(start, begin):
    program = start(env={"GPUTAP_CUPTI": "/nonexistent"})
    session = begin("a.gputap", "--no-device")
    assert program.attach(session) == 0
    program.work()
    assert session.end()["activities"] == 0
    assert any("outside of its libraries' data" in text for text in session.events())
    program.finish()


def test_single_calls_are_recorded_from_all_addresses(start, begin):
    program, session = start(), begin("a.gputap", "--ops", "cuStreamQuery")
    assert program.attach(session) == 0
    said = program.work()
    assert calls(session.end()) == {"cuStreamQuery": said["calls"]["cuStreamQuery"]}
    program.finish()


def test_the_child_of_a_fork_is_attached_without_cupti(start, begin):
    program, session = start(), begin("a.gputap")
    assert program.attach(session, "fork") == 0
    session.end()
    program.work()
    program.finish()


def test_graphs_are_recorded_by_node_in_mode_lite(start, begin):
    program, session = start(), begin("a.gputap", "--mode", "lite")
    assert program.attach(session) == 0
    said = program.work()
    report = session.end()
    assert kernels(report) == said["kernels"]
    program.finish()


def test_a_paused_session_records_from_its_start_on(start, begin, run, gputap):
    program, session = start(), begin("a.gputap", "--paused")
    assert program.attach(session) == 0
    program.work()
    run([gputap, "start", "a.gputap"])
    said = program.work()
    check(session.end(), said)
    program.finish()


def test_a_profiler_before_the_attach_loses_cupti_and_gets_all_its_records(start, begin):
    program, session = start(), begin("a.gputap")
    program.profile()
    said = program.work()
    assert program.say("stop") == str(said["kernels"])
    assert program.attach(session) == 0
    program.profile()
    said = program.work()
    assert program.say("stop") == str(said["kernels"])
    check(session.end(), said)
    assert session.events() == []
    program.profile()
    said = program.work()
    assert program.say("stop") == str(said["kernels"])
    session = begin("b.gputap")
    assert program.attach(session) == 0
    said = program.work()
    check(session.end(), said)
    program.finish()


def test_a_profiler_that_is_open_at_the_attach_keeps_cupti_until_it_stops(start, begin):
    program, session = start(), begin("a.gputap")
    program.profile()
    assert program.attach(session) == 0
    first = program.work()
    assert program.say("stop") == str(first["kernels"])
    time.sleep(1)  # gputap looks ten times a second
    second = program.work()
    report = session.end()
    assert kernels(report) == second["kernels"]
    assert report["linked"] == report["activities"]
    assert any("until torch.profiler stops" in text for text in session.events())
    program.finish()


def test_a_profiler_in_a_session_gets_all_its_records_and_cupti_leaves_afterwards(start, begin):
    program, session = start(), begin("a.gputap")
    assert program.attach(session) == 0
    program.profile()
    said = program.work()
    assert program.say("stop") == str(said["kernels"])
    check(session.end(), said)
    assert program.say("wait") == "waited"
    program.profile()
    said = program.work()
    assert program.say("stop") == str(said["kernels"])
    program.finish()


def test_the_commands_attach_and_detach_without_losing_a_record(start, run, gputap):
    program = start()
    program.work()
    number = str(program.process.pid)
    for _ in range(2):
        attach = subprocess.Popen([gputap, "attach", "-f", "-o", "a.gputap", number], text=True,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  stdout=subprocess.PIPE, env=clean_environment())
        assert "attached to" in attach.stderr.readline()
        said = program.work()
        run([gputap, "detach", number])
        attach.communicate(timeout=60)
        assert attach.returncode == 0
        check(json.loads(run([gputap, "report", "--json", "--top", "0", "a.gputap"]).out), said)
        program.work()
    program.finish()
