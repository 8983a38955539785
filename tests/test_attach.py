# SPDX-License-Identifier: MIT
"""Test gputap attach and detach on a running OpenCL program that was started without gputap."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

import conftest
from control_programs import compile_c, wait_until

SOURCE = conftest.REPO / "tests/attach/attach_program.c"


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("attach") / "late"
    compile_c("cc", "-Wall", "-Wextra", "-Werror", "-O1", "-g", SOURCE, "-o", path, "-lOpenCL",
              "-lpthread")
    return path


class Target:
    """A program that executes the lines written to its standard input."""
    def __init__(self, *command):
        self.process = subprocess.Popen([str(c) for c in command], text=True,
                                        env=conftest.clean_environment(), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, start_new_session=True)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            conftest.end_group(self.process)

    def tell(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "ok\n", line

    def end(self):
        self.tell("exit")
        assert self.process.wait(conftest.HANGS_SECONDS) == 0


class Attached:
    """A running gputap attach, which has attached when the constructor returns."""
    def __init__(self, gputap, pid, *options, command="attach"):
        self.process = subprocess.Popen([gputap, command, *options, str(pid)], text=True,
                                        env={**conftest.clean_environment(), "COLUMNS": "1000"},
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, start_new_session=True)
        self.pid, self.err = self.process.pid, ""
        while "attached to" not in self.err:
            line = self.process.stderr.readline()
            assert line, self.err
            self.err += line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            conftest.end_group(self.process)

    def end(self, status=0):
        self.err += self.process.communicate(timeout=conftest.HANGS_SECONDS)[1]
        assert self.process.returncode == status, self.err
        return self.err


@pytest.fixture
def target(program, work):
    with contextlib.ExitStack() as targets:
        yield lambda *command: targets.enter_context(Target(*(command or (program,))))


@pytest.fixture
def attach(gputap, work):
    with contextlib.ExitStack() as sessions:
        yield lambda *words, **keywords: sessions.enter_context(
            Attached(gputap, *words, **keywords))


@pytest.fixture
def info(tap):
    return lambda name="a.gputap": json.loads(tap("info", "--json", name).out)


def counts(info):
    """Check that the capture is complete, and return its numbers of calls and activities."""
    assert info["complete"], info["why_not_complete"]
    assert info["dropped"] == 0
    return info["calls"], info["activities"]


def test_everything_after_the_attach_is_recorded_and_nothing_before(tap, target, attach, info):
    t = target()
    t.tell("run 5")
    a = attach(t.pid, "-o", "a.gputap")
    t.tell("run 7", "run 1")
    assert "detached from" in tap("detach", t.pid).err
    a.end()
    assert f"detached from {t.pid}, which continues" in a.err
    t.tell("run 3")
    assert counts(info()) == (10, 8)
    assert info()["linked"] == 8
    t.end()


def test_the_capture_says_when_gputap_came(tap, target, attach):
    t = target()
    t.tell("run 1")
    with attach(t.pid, "-o", "a.gputap") as a:
        t.tell("run 1")
        tap("detach", t.pid)
        a.end()
    sentence = f"process {t.pid}, which had run for "
    assert "Attached to " + sentence in tap("report", "a.gputap").out
    assert sentence in tap("info", "a.gputap").out
    events = json.loads(tap("info", "--json", "a.gputap").out)["events"]
    assert [e["event"] for e in events if e["event"] == "attached"] == ["attached"]
    assert "detached" in tap("report", "-t", "processes", "a.gputap").out
    assert f"attach={t.pid}" in tap("info", "a.gputap").out


def test_a_process_can_be_attached_to_again(tap, target, attach, info):
    t = target()
    for i in range(1, 5):
        t.tell("run 2")
        with attach(t.pid, "-o", f"{i}.gputap") as a:
            t.tell(f"run {i}")
            tap("detach", t.pid)
            a.end()
        assert counts(info(f"{i}.gputap")) == (i + 1, i)
    t.end()


def test_the_name_of_the_capture_is_that_of_program_and_process(tap, target, attach):
    t = target()
    t.tell("run 1")
    for name in f"late.{t.pid}.gputap", f"late.{t.pid}.2.gputap":
        with attach(t.pid) as a:
            assert name in a.err
            tap("detach", t.pid)
            a.end()
        assert pathlib.Path(name).exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_detaches(target, attach, info, number):
    t = target()
    t.tell("run 1")
    a = attach(t.pid, "-o", "a.gputap")
    t.tell("run 4")
    os.kill(a.pid, number)
    a.end()
    t.tell("run 2")
    assert counts(info()) == (5, 4)
    t.end()


def test_the_session_ends_with_the_process(target, attach, info):
    t = target()
    t.tell("run 1")
    a = attach(t.pid, "-o", "a.gputap")
    t.tell("run 4")
    t.end()
    assert f"process {t.pid} ended" in a.end()
    assert counts(info()) == (5, 4)


def test_a_process_that_is_killed_loses_nothing(target, attach, info):
    t = target()
    t.tell("run 1")
    a = attach(t.pid, "-o", "a.gputap")
    t.tell("run 4")
    t.process.kill()
    t.process.wait()
    assert f"process {t.pid} ended" in a.end()
    assert counts(info()) == (5, 4)


def test_a_duration_ends_the_session(target, attach, info):
    t = target()
    t.tell("loop")
    a = attach(t.pid, "-o", "a.gputap", "--duration", "300ms")
    assert "which continues" in a.end()
    found = info()
    assert counts(found)[1] > 0
    assert 250e6 < found["wall_ns"]
    t.tell("run 1")


def test_a_number_of_kernels_ends_the_session(target, attach, info):
    t = target()
    t.tell("loop")
    a = attach(t.pid, "-o", "a.gputap", "--max-kernels", "20")
    a.end()
    assert info()["activities"] >= 20


def test_windows_and_status_know_the_process(tap, target, attach, info):
    t = target()
    t.tell("run 1")
    a = attach(t.pid, "-o", "a.gputap")
    tap("stop", t.pid)
    t.tell("run 3")
    assert "paused" in tap("status", t.pid).out
    tap("start", t.pid)
    t.tell("run 2")
    tap("detach", a.pid)  # by the process of gputap
    a.end()
    assert counts(info()) == (3, 2)


def test_a_flight_recorder_is_attached(tap, target, attach, info):
    t = target()
    t.tell("run 1")
    a = attach(t.pid, "-o", "a.gputap", "--keep", "60s")
    t.tell("run 3")
    tap("snapshot", "-o", "s.gputap", t.pid)
    t.tell("run 2")
    tap("detach", "a.gputap")
    a.end()
    assert info("s.gputap")["activities"] == 3
    assert info()["activities"] == 5
    assert f"process {t.pid}, which had run" in tap("info", "s.gputap").out


def test_run_with_a_process_id_attaches(target, attach, info):
    t = target()
    t.tell("run 1")
    a = attach(t.pid, "-o", "a.gputap", "-p", command="run")
    t.tell("run 4")
    t.end()
    a.end()
    assert counts(info()) == (5, 4)


def test_a_child_by_fork_is_recorded(target, attach, info):
    t = target()
    a = attach(t.pid, "-o", "a.gputap")
    t.tell("fork", "run 3", "exit", "run 2")
    t.end()
    a.end()
    assert counts(info())[1] == 5
    assert sum(p["seen"] > 0 for p in info()["processes"]) == 2


def test_a_tree_is_attached_to(tap, target, attach, info):
    t = target()
    t.tell("fork", "run 1")
    a = attach(t.pid, "-o", "a.gputap", "--tree")
    assert "and 1 of its 1 descendants" in a.err
    t.tell("run 3", "exit", "run 2")
    tap("detach", t.pid)
    a.end()
    assert counts(info())[1] == 5
    assert "2 processes; the first" in tap("info", "a.gputap").out


@pytest.mark.parametrize("way", ["exec", "system", "popen", "spawn"])
def test_programs_of_a_tree_are_recorded(tap, target, attach, info, way):
    t = target()
    t.tell("run 1")
    a = attach(t.pid, "-o", "a.gputap", "--tree")
    t.tell(way, "run 3", "exit", "run 2")
    tap("detach", t.pid)
    a.end()
    assert counts(info())[1] == 5
    t.tell(way, "run 1", "exit")  # without gputap
    t.end()


def test_programs_are_not_recorded_without_tree(target, attach, info):
    t = target()
    t.tell("run 1")
    a = attach(t.pid, "-o", "a.gputap")
    t.tell("exec", "run 3", "exit", "run 2")
    t.end()
    a.end()
    assert counts(info())[1] == 2  # and complete: the program was not requested


def test_a_stopped_process_detaches_when_it_continues(tap, target, attach, info):
    t = target()
    t.tell("run 1")
    a = attach(t.pid, "-o", "a.gputap")
    t.tell("run 4")
    os.kill(t.pid, signal.SIGSTOP)
    tap("detach", t.pid)
    assert "1 process has not answered" not in a.end() or "did not answer" in a.err
    os.kill(t.pid, signal.SIGCONT)
    t.tell("run 1")
    assert counts(info()) == (5, 4)
    with attach(t.pid, "-o", "b.gputap") as b:
        t.tell("run 2")
        tap("detach", t.pid)
        b.end()
    assert counts(info("b.gputap")) == (3, 2)


# Refusals ------------------------------------------------------------------------

def refused(tap, pid, *options, status=126):
    before = set(os.listdir("."))
    result = tap("attach", *options, str(pid), status=status)
    assert set(os.listdir(".")) == before  # no empty capture
    return result.err


def test_a_process_that_does_not_exist_is_refused(tap, program, work):
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert f"there is no process {gone.pid}" in refused(tap, gone.pid, status=127)
    assert f"there is no process {gone.pid}" in refused(tap, gone.pid, "--tree", status=127)


@pytest.mark.parametrize("words", [["abc"], ["0"], ["-1"], [], ["1", "2"]])
def test_what_is_no_process_is_refused(tap, work, words):
    assert tap("attach", "--", *words, status=2).err


def test_a_statically_linked_program_is_refused(tap, work, target):
    pathlib.Path("static.c").write_text("#include <stdio.h>\nint main(void)"
                                        "{ char b[9]; return !fgets(b, 9, stdin); }\n")
    compile_c("cc", "-static", "static.c", "-o", "static")
    t = target(work / "static")
    assert "static" in refused(tap, t.pid)
    t.process.stdin.close()
    t.process.wait()


def test_a_process_of_another_user_is_refused(run, gputap, work, target):
    if os.geteuid():
        pytest.skip("needs root")
    t = target("sleep", "1000")
    work.chmod(0o777)
    err = run(["setpriv", "--reuid", "65534", "--clear-groups", gputap, "attach", t.pid],
              status=126).err
    assert "cannot attach to" in err
    assert not list(work.glob("*.gputap"))


def test_a_process_is_recorded_by_one_session(tap, target, attach):
    t = target()
    t.tell("run 1")
    a = attach(t.pid, "-o", "a.gputap")
    err = refused(tap, t.pid, "-o", "b.gputap")
    assert f"{t.pid} is recorded already" in err and f"'gputap detach {t.pid}'" in err
    tap("detach", t.pid)
    a.end()


def test_a_program_under_run_is_refused(tap, gputap, program, work):
    environment = conftest.clean_environment()
    with subprocess.Popen([gputap, "run", "-q", "-o", "r.gputap", program], text=True,
                          env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          start_new_session=True) as run:
        run.stdin.write("run 1\n")
        run.stdin.flush()
        assert run.stdout.readline() == "ok\n"
        status = json.loads(tap("status", "--json", str(run.pid)).out)
        pid = status["sessions"][0]["pid"]
        assert "is recorded already" in refused(tap, pid, "-o", "a.gputap")
        err = tap("detach", str(pid), status=1).err
        assert "`gputap run`" in err
        run.stdin.write("exit\n")
        run.stdin.flush()
        assert run.wait(conftest.HANGS_SECONDS) == 0


def test_detach_of_a_process_without_session_is_an_error(tap, target):
    t = target()
    assert f"{t.pid}" in tap("detach", t.pid, status=1).err
    assert "gputap status" in tap("detach", status=2).err


def test_an_existing_capture_is_kept(tap, target):
    t = target()
    pathlib.Path("a.gputap").write_text("mine")
    assert "exists" in tap("attach", "-o", "a.gputap", t.pid, status=1).err
    assert pathlib.Path("a.gputap").read_text() == "mine"
    t.tell("run 1")
    t.end()


def test_no_thread_or_folder_remains(tap, target, attach):
    t = target()
    t.tell("run 1")
    before = len(os.listdir(f"/proc/{t.pid}/task"))
    with attach(t.pid, "-o", "a.gputap") as a:
        tap("detach", t.pid)
        a.end()
    wait_until(lambda: len(os.listdir(f"/proc/{t.pid}/task")) == before)
    maps = pathlib.Path(f"/proc/{t.pid}/maps").read_text()
    folders = [line for line in maps.splitlines() if "/gputap-" in line]
    assert all("(deleted)" in line for line in folders)
    t.end()
