# SPDX-License-Identifier: MIT
"""Test recording windows and all ways to open and close a window: gputap start, stop and status,
options of gputap run, signals, calls in the program."""
import collections
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import pytest

import conftest
import control_programs
from control_programs import (  # noqa: F401 fixtures
    control, recorded, session, status, wait_until
)


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    return control_programs.Program("refdev", build, tmp_path_factory.mktemp("windows"))


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


def windows_of(tap):
    return json.loads(tap("info", "--json", "w.gputap").out)["windows"]


def test_the_programs_pause_and_the_sessions_are_two(session, control, recorded):
    s = session()
    s.tell("run a 1", "pause", "run b 1")
    control("stop", s)
    s.tell("resume", "run b 1")
    control("start", s)
    s.tell("run c 1", "pause")
    control("start", s)
    s.tell("run b 1", "resume", "run d 1")
    s.end()
    assert recorded() == {"a": 1, "c": 1, "d": 1}


def test_a_session_begins_paused_and_the_first_start_is_followed(session, control, status,
                                                                 recorded):
    s = session("--paused")
    s.tell("run a 4")
    assert status(s)["state"] == "paused" and status(s)["why"] == "paused"
    control("start", s)
    s.tell("run b 2")
    s.end()
    assert recorded() == {"b": 2}


def test_a_process_that_begins_later_begins_as_the_session_is(session, control, recorded):
    s = session()
    s.tell("nothing")
    control("stop", s)
    s.tell("run a 3")
    control("start", s)
    s.tell("run b 3")
    s.end()
    assert recorded() == {"b": 3}


def test_a_window_that_never_began_is_said(session):
    s = session("--paused")
    s.tell("run a 1")
    s.end()
    assert "the recording window never opened: no 'gputap start' or signal arrived" in s.err
    s = session("--delay", "1h", "-f")
    s.tell("run a 1")
    s.end()
    assert "the program ended before the --delay of" in s.err


def test_delay_and_duration_are_a_window(session, status, recorded):
    s = session("--delay", "300ms", "--duration", "1h")
    s.tell("run a 1")  # the window may already be open on a slow machine
    wait_until(lambda: status(s)["state"] == "recording" and status(s)["not_following"] == 0)
    assert status(s)["stops_in_ns"] > 0
    s.tell("run b 1")
    s.end()
    assert recorded()["b"] == 1
    s = session("-f", "--duration", "100ms")
    s.tell("nothing")
    wait_until(lambda: status(s)["state"] == "paused")
    s.tell("run c 1")
    s.end()
    assert not recorded()


def test_signals_to_gputap_run_are_not_the_programs(session, status, recorded):
    s = session("--paused", "--start-signal", "SIGUSR1", "--stop-signal", "USR2")
    s.tell("run a 1")
    os.kill(s.pid, signal.SIGUSR1)
    wait_until(lambda: status(s)["state"] == "recording" and status(s)["not_following"] == 0)
    s.tell("run b 1")
    os.kill(s.pid, signal.SIGUSR2)
    wait_until(lambda: status(s)["state"] == "paused" and status(s)["not_following"] == 0)
    s.tell("run c 1")
    s.end()  # without gputap, either signal kills the program
    assert recorded() == {"b": 1}


def test_one_signal_does_both_by_turns(session, status, recorded):
    s = session("--start-signal", "RTMIN+1", "--stop-signal", "RTMIN+1")
    for name, state in (("a", "paused"), ("b", "recording"), ("c", "paused")):
        s.tell(f"run {name} 1")
        os.kill(s.pid, signal.SIGRTMIN + 1)
        wait_until(lambda: status(s)["state"] == state and status(s)["not_following"] == 0)
    s.end()
    assert recorded() == {"a": 1, "c": 1}


def test_a_window_of_so_many_kernels_ends(session, status, recorded):
    s = session("--max-kernels", "5")
    s.tell("run a 5")
    wait_until(lambda: status(s)["state"] == "paused" and status(s)["not_following"] == 0)
    assert status(s)["why"] == "kernels"
    s.tell("run b 5")
    s.end()
    assert recorded() == {"a": 5}


def test_a_forks_child_follows_whatever_the_state_it_was_forked_in(session, control, recorded, tap):
    """The device belongs to the parent, so gputap records only calls in the child."""
    s = session("--wait")
    s.tell("run a 1")
    control("stop", s)
    s.begin("fork")
    s.tell("run b 1")  # runs in the child, which is paused
    control("start", s)
    s.tell("run c 1", "run c 1")
    control("stop", s)
    s.tell("run d 1")
    s.begin("exit")
    assert s.process.stdout.readline() == "ok\n"
    control("start", s)
    s.tell("run b 1")
    s.end()
    assert recorded() == {"a": 1, "b": 1}
    with open("w.csv", newline="") as f:
        rows = [r for r in csv.DictReader(f) if r["operation"] == "refdevLaunchKernel"]
    processes = collections.Counter(r["pid"] for r in rows)
    assert sorted(processes.values()) == [2, 2], processes


def test_a_hundred_processes_follow(session, control, status, work, tap):
    s = session("--paused", "--wait")
    s.tell("run b 1", "spawn 100")
    wait_until(lambda: status(s)["following"] == 101)
    assert status(s)["not_following"] == 0
    control("start", s)
    assert (status(s)["following"], status(s)["not_following"]) == (101, 0)
    time.sleep(0.1)
    control("stop", s)
    assert (status(s)["following"], status(s)["not_following"]) == (101, 0)
    (work / "stop").touch()
    s.tell("wait")
    s.end()
    assert len(windows_of(tap)) == 303


def test_the_capture_says_its_windows(session, control, tap):
    s = session()
    s.tell("run a 1")
    control("stop", s)
    control("start", s)
    s.tell("pause", "resume")
    s.end()
    found = [(w["state"], w["why"], w["end_why"]) for w in windows_of(tap)]
    assert found == [("recorded", "process", "command"), ("paused", "command", "command"),
                     ("recorded", "command", "program"), ("paused", "program", "program"),
                     ("recorded", "program", "process")]
    w = windows_of(tap)
    assert all(x["to_ns"] == y["from_ns"] for x, y in zip(w, w[1:]))
    assert "in 3 windows" in tap("info", "w.gputap").out
    assert "Recorded:" in tap("report", "--all", "w.gputap").out


def test_a_session_is_found_by_its_processes_and_its_capture(session, tap, status, work):
    s = session()
    s.tell("run a 1")
    pid, folder = status(s)["pid"], status(s)["folder"]
    for which in (pid, folder, work / "w.gputap"):
        found = json.loads(tap("status", "--json", str(which)).out)["sessions"]
        assert [x["collector"] for x in found] == [s.pid]
    assert "was already being recorded" in tap("start", str(s.pid)).err
    assert tap("stop", "-q", str(s.pid)).err == ""
    assert "was already paused" in tap("stop", str(s.pid)).err
    assert "w.gputap" in tap("status").out
    s.end()
    assert f"process {s.pid} does not exist" in tap("stop", str(s.pid), status=1).err
    assert "no running session writes" in tap("stop", str(work / "w.gputap"), status=1).err
    assert "is in no running session" in tap("start", str(os.getpid()), status=1).err
    assert "no running session is called nobody" in tap("start", "nobody", status=1).err


@pytest.mark.parametrize("options, sentence", [
    (["--delay", "soon"], "--delay soon: a time above 0, such as"),
    (["--duration", "0"], "--duration 0: a time above 0, such as"),
    (["--max-kernels", "-1"], "--max-kernels -1: a number"),
    (["--start-signal", "KILL"], "--start-signal KILL: one of the signals HUP"),
    (["--stop-signal", "CHLD"], "--stop-signal CHLD: one of the signals"),
    (["--paused", "--delay", "1s"], "choose one"),
])
def test_bad_values_are_refused(tap, work, options, sentence):
    assert sentence in tap("run", *options, "--", "true", status=2).err


def test_a_client_that_says_nothing_holds_nobody_up(session, control, status):
    s = session()
    s.tell("run a 1")
    path, silent = status(s)["folder"] + "/control", []
    for _ in range(60):
        silent.append(socket.socket(socket.AF_UNIX))
        silent[-1].connect(path)
    assert status(s)["state"] == "recording"
    assert oct(os.stat(path).st_mode & 0o777) == "0o600"
    for c in silent:
        c.close()
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(path)
        c.sendall(b"dance\n")
        assert c.recv(1000).startswith(b"error the session runs another version of gputap")
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(path)
        try:
            c.sendall(b"x" * 100000)
            assert c.recv(10) == b""
        except OSError:
            pass
    control("stop", s)
    s.end()


@pytest.fixture
def others_gputap(gputap):
    """Return a function that runs the gputap command under user id 65534."""
    if os.geteuid():
        pytest.skip("needs root, to become another user")
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(gputap, folder)
        os.chmod(folder, 0o755)
        os.chmod(path, 0o755)

        def call(*words, **keywords):
            return subprocess.run([path, *words], text=True, capture_output=True, check=False,
                                  cwd="/", user=65534, group=65534, extra_groups=[], **keywords)
        yield call


@pytest.mark.parametrize("command", ["start", "stop", "snapshot", "status"])
def test_another_user_is_refused(session, others_gputap, status, command):
    s = session()
    s.tell("run a 1")
    folder = status(s)["folder"]
    assert folder not in others_gputap("status", "--json").stdout
    for which in (str(s.pid), folder):
        done = others_gputap(command, which)
        assert done.returncode == 1, done
        assert re.search(r"run as that user or root|no running session|Permission denied",
                         done.stderr), done
    assert (status(s)["state"], status(s)["windows"]) == ("recording", 1)
    s.end()


def test_a_session_that_answers_without_end_is_left(tap, work):
    folder = work / "tmp" / f"gputap-{os.geteuid()}-endles"
    folder.mkdir(parents=True)
    (folder / "session").touch()

    def answer():
        for _ in range(2):  # the command may ask twice
            client, _ = listener.accept()
            client.sendall(b"ok\n")
            try:
                while True:
                    client.sendall(b"x=1\n" * 10000)
            except OSError:
                client.close()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "control"))
        listener.listen()
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        assert "did not answer" in tap("status", env={"TMPDIR": str(work / "tmp")}, timeout=30).err


def plant(place, name):
    """Create a folder that resembles a session folder, and its socket."""
    folder = place / f"gputap-{os.geteuid()}-{name}"
    folder.mkdir(parents=True)
    (folder / "session").touch()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.relpath(folder / "control"))
    listener.listen()
    return listener


@pytest.mark.parametrize("command", ["status", "stop"])
def test_sessions_are_asked_at_the_same_time(tap, work, command):
    """No session answers before all sessions have been asked. If the command asked one after
    another, it would get no answer."""
    count = 6
    everyone = threading.Barrier(count)

    def answer(listener, number):
        client, _ = listener.accept()
        with client:
            client.recv(1000)
            everyone.wait()
            client.sendall(f"ok\noutput=/x/{number}.gputap\ncollector={number}\n".encode())

    listeners = [plant(work / "tmp", f"aaaaa{i}") for i in range(count)]
    threads = [
        threading.Thread(target=answer, args=(s, i), daemon=True)
        for i, s in enumerate(listeners)
    ]
    for t in threads:
        t.start()
    result = tap(command, env={"TMPDIR": str(work / "tmp")}, status=0 if command == "status" else 1)
    said = result.out + result.err
    assert all(f"{i}.gputap" in said for i in range(count)), said
    assert "did not answer" not in said
    for t in threads:
        t.join()
    for s in listeners:
        s.close()


def test_silent_sessions_do_not_hide_one_that_answers(session, tap, work, status):
    s = session()
    s.tell("run a 1")
    capture = pathlib.Path(status(s)["capture"]).name
    listeners = [plant(work / "tmp", f"aaaaa{i}") for i in range(3)]
    result = tap("status", env={"TMPDIR": str(work / "tmp")})
    assert capture in result.out
    assert "3 more sessions did not answer" in result.err
    for listener in listeners:
        listener.close()
    s.end()


def test_folders_of_other_users_are_not_asked(others_gputap, work):
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        listener = plant(pathlib.Path(place), "aaaaaa")
        for path in pathlib.Path(place).rglob("*"):
            os.chmod(path, 0o777)
        listener.setblocking(False)
        done = others_gputap("status", env={"TMPDIR": place})
        assert "no session is running" in done.stdout and "did not answer" not in done.stderr
        with pytest.raises(BlockingIOError):
            listener.accept()
        listener.close()


def test_a_session_that_ends_while_it_is_asked_is_said_to_have_ended(session, status, control):
    s = session()
    s.tell("run a 1")  # the session is running now
    folder = pathlib.Path(status(s)["folder"])
    (folder / "control").rename(folder / "real")

    def answer():
        """Forward requests, including those from commands of other tests, until a stop request
        arrives."""
        while True:
            client, _ = listener.accept()
            with client, socket.socket(socket.AF_UNIX) as real:
                request = client.recv(1000)
                if request == b"stop\n":
                    return
                real.connect(str(folder / "real"))
                real.sendall(request)
                while text := real.recv(1000):
                    client.sendall(text)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "control"))
        listener.listen()
        thread = threading.Thread(target=answer)
        thread.start()
        assert "the session has ended" in control("stop", s, status=1).err
        thread.join()
    (folder / "real").rename(folder / "control")
    s.end()


def test_the_socket_lets_nobody_else_in(session, status):
    """Two checks refuse other users: the mode of the folder, and the collector, which asks the
    kernel for the user id of the peer."""
    if os.geteuid():
        pytest.skip("needs root, to become another user")
    s = session()
    s.tell("run a 1")
    folder = status(s)["folder"]
    assert os.stat(folder).st_mode & 0o777 == 0o700
    ask = (f"import socket; c = socket.socket(socket.AF_UNIX); c.connect('{folder}/control');"
           "c.sendall(b'stop\\n'); print(c.recv(100))")

    def connect():
        return subprocess.run(["python3", "-c", ask], text=True, capture_output=True, check=False,
                              cwd="/", user=65534, group=65534, extra_groups=[])
    assert "PermissionError" in connect().stderr
    os.chmod(folder, 0o711)
    os.chmod(f"{folder}/control", 0o666)
    said = connect()
    assert "ok" not in said.stdout, said
    assert status(s)["state"] == "recording"
    s.end()


PYTHON = """\
import gputap
with gputap.range("a"):
    pass
print(gputap.pause())
with gputap.range("b"):
    pass
print(gputap.resume())
with gputap.range("c"):
    pass
"""


def test_pythons_package_pauses_and_resumes(tap, run, work):
    path = {"PYTHONPATH": conftest.REPO / "python/src"}
    assert run(["python3", "-c", PYTHON], env=path).out == "False\nFalse\n"
    assert tap("run", "-q", "-o", "w.gputap", "--", "python3", "-c", PYTHON,
               env=path).out == "True\nTrue\n"
    rows = csv.DictReader(tap("report", "--csv", "-t", "ranges", "w.gputap").out.splitlines())
    assert {r["name"] for r in rows} == {"a", "c"}
