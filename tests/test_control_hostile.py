# SPDX-License-Identifier: MIT
"""Test control with hostile, broken or too many clients: no command hangs, nothing is lost, and the
program continues."""
import collections
import concurrent.futures
import contextlib
import csv
import json
import os
import re
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import time

import pytest

import conftest
import control_programs
from control_programs import (  # noqa: F401 fixtures
    control, recorded, session, status, wait_until
)


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    return control_programs.Program("refdev", build, tmp_path_factory.mktemp("hostile"))


def connect(folder):
    c = socket.socket(socket.AF_UNIX)
    c.settimeout(conftest.HANGS_SECONDS)
    c.connect(f"{folder}/control")
    return c


def ask(folder, request):
    with connect(folder) as c, c.makefile() as f:
        c.sendall(request + b"\n")
        return f.read()


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: "\nState:\tT" in pathlib.Path(f"/proc/{pid}/status").read_text())
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_two_hundred_commands_at_once_are_all_answered(session, gputap, status, recorded):
    s = session("--wait")
    s.tell("run a 1", "spawn 5")
    commands = ["stop", "start"] * 100

    def call(command):
        return subprocess.run([gputap, command, "-q", str(s.pid)], check=False, text=True,
                              capture_output=True)
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        done = list(pool.map(call, commands))
    assert not [d for d in done if d.returncode or d.stderr]
    call("stop")
    assert status(s)["not_following"] == 0
    s.tell("run b 1")
    call("start")
    s.tell("run c 1")
    pathlib.Path("stop").touch()
    s.tell("wait")
    s.end()
    found = recorded()
    assert found["c"] == 1 and "b" not in found


def test_requests_by_the_hundred_are_all_answered(session, status):
    """More clients connect at the same time than the session can serve."""
    s = session()
    s.tell("run a 1")
    folder = status(s)["folder"]
    requests = [random.choice([b"session", b"status", b"stop", b"start", b"snapshot-state number=9",
                               b"dance"]) for _ in range(1000)]
    with concurrent.futures.ThreadPoolExecutor(60) as pool:
        answers = list(pool.map(lambda r: ask(folder, r), requests))
    for request, answer in zip(requests, answers):
        kind = b"error" if request.startswith((b"dance", b"snapshot")) else b"ok"
        assert answer.encode().startswith(kind), (request, answer)
    s.end()


def test_clients_that_say_half_or_leave_in_the_middle_harm_nobody(session, status, control,
                                                                 recorded):
    s = session()
    s.tell("run a 1")
    folder = status(s)["folder"]
    waiting = [connect(folder) for _ in range(40)]
    for c in waiting[:20]:
        c.sendall(b"sta")
    for request in (b"status\n", b"\n", b"\0\xff\n", b"stop extra" + b" =" * 200 + b"\n", b"=\n",
                    b"status\n" * 1000, b"start\nstop\nstart\n"):
        for _ in range(50):
            with connect(folder) as c:
                c.sendall(request)
    for c in waiting:
        c.close()
    control("start", s)
    s.tell("run b 1")
    assert status(s)["state"] == "recording"
    s.end()
    assert recorded()["b"] == 1


def test_who_takes_no_answer_is_not_waited_for(session, status, control):
    s = session()
    s.tell("run a 1")
    folder = status(s)["folder"]
    deaf = [connect(folder) for _ in range(32)]
    for c in deaf:
        c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        c.sendall(b"status\n")
    control("stop", s)
    assert status(s)["state"] == "paused"
    for c in deaf:
        c.close()
    s.end()


def test_a_process_that_is_stopped_is_said_and_follows_when_it_goes_on(session, control, status,
                                                                       recorded, tap):
    s = session()
    s.tell("run a 1")
    pid = status(s)["pid"]
    with stopped(pid):
        assert "1 process has not applied the change yet: stopped" in control("stop", s).err
        assert status(s)["not_following"] == 1
        tap("snapshot", "-q", "-o", "s.gputap", str(s.pid))
    wait_until(lambda: status(s)["not_following"] == 0)
    s.tell("run b 1")
    control("start", s)
    s.tell("run c 1")
    s.end()
    assert recorded() == {"a": 1, "c": 1}
    tap("report", "--all", "s.gputap")


def test_a_process_that_is_killed_before_it_has_followed_is_not_waited_for(session, control,
                                                                           status):
    s = session("--wait")
    s.tell("run a 1", "spawn 1")
    wait_until(lambda: status(s)["following"] == 2)
    pids = [int(p) for p in status(s)["pids"].split(",")]
    child = next(p for p in pids if p != status(s)["pid"])
    with stopped(child):
        with subprocess.Popen(["sleep", "0.3"]) as nap, \
                concurrent.futures.ThreadPoolExecutor(1) as pool:
            done = pool.submit(control, "stop", s)
            nap.wait()
            os.kill(child, signal.SIGKILL)
            assert "not followed" not in done.result().err
    s.end()


def test_gputap_run_that_is_stopped_is_a_sentence(session, tap):
    s = session()
    s.tell("run a 1")
    with stopped(s.pid):
        for command in ("start", "stop", "snapshot"):
            done = tap(command, str(s.pid), status=1)
            assert "in no running session" in done.err or "did not answer" in done.err, done
        assert "did not answer: is `gputap run` stopped?" in tap("status").err
    s.end()


@pytest.mark.parametrize("how", ["zero", "ones", "random", "cut"])
def test_what_a_process_does_to_its_memory_harms_its_own_records_only(session, control, status,
                                                                      work, gputap, how):
    s = session("--wait")
    s.tell("run a 1", "spawn 3")
    wait_until(lambda: status(s)["following"] == 4)
    pids, main = status(s)["pids"].split(","), str(status(s)["pid"])
    victim = next(p for p in pids if p != main)
    ring = next(pathlib.Path(status(s)["folder"]).glob(f"{victim}-*.gpuring"))
    os.kill(int(victim), signal.SIGSTOP)
    with open(ring, "r+b") as f:
        if how == "cut":
            f.truncate(0)
        else:
            f.write({"zero": bytes(65536), "ones": b"\xff" * 65536,
                     "random": random.Random(1).randbytes(65536)}[how])
    control("stop", s)
    control("start", s)
    assert status(s)["state"] == "recording"
    os.kill(int(victim), signal.SIGKILL)
    s.tell("run c 1")
    (work / "stop").touch()
    s.tell("wait")
    s.process.communicate(timeout=conftest.HANGS_SECONDS)
    assert s.process.returncode == 0
    subprocess.run([gputap, "export", "-f", "w.gputap", "-o", "w.csv"], check=True)
    with open("w.csv", newline="") as f:
        names = collections.Counter(r["name"] for r in csv.DictReader(f)
                                    if r["kind"] == "device" and r["pid"] == main)
    assert names == {"a": 1, "c": 1}


def test_snapshot_and_stop_at_once(session, gputap, status, tap):
    s = session()
    s.tell("run a 100")
    for _ in range(5):
        both = [subprocess.Popen([gputap, *words, str(s.pid)], stderr=subprocess.DEVNULL)
                for words in (["snapshot"], ["stop"], ["snapshot"], ["start"])]
        assert [b.wait(conftest.HANGS_SECONDS) for b in both] == [0] * 4
    s.end()
    for number in range(1, 11):
        tap("report", "--all", f"w.{number}.gputap")


def test_control_while_processes_begin_and_end_by_the_hundred(session, gputap, status, tap):
    s = session("--wait")
    s.tell("run a 1")
    s.begin("storm 200")
    turns = 0
    while s.process.poll() is None and turns < 20:
        for command in ("stop", "start"):
            done = subprocess.run([gputap, command, "-q", str(s.pid)], check=False, text=True,
                                  capture_output=True)
            assert done.returncode == 0 and "Sanitizer" not in done.stderr, done
        turns += 1
    assert s.process.stdout.readline() == "ok\n"
    s.end()
    info = json.loads(tap("info", "--json", "w.gputap").out)
    assert info["seen"] == info["recorded"] + info["dropped"] and not info["dropped"]
    assert len(info["processes"]) == 201


def test_two_sessions_side_by_side_are_controlled_alone(session, program, gputap, status, work, tap,
                                                        control):
    first = session()
    (work / "second").mkdir()
    os.chdir(work / "second")
    second = session()
    os.chdir(work)
    for s in (first, second):
        s.tell("run a 1")
    said = subprocess.run([gputap, "stop"], check=False, text=True, capture_output=True).stderr
    assert "sessions are running; name one" in said
    for text in (said, tap("status").out):  # both write w.gputap
        assert re.search(r"^  .*\bsecond/w\.gputap  ", text, re.M)
        assert re.search(r"^ (.* )?w\.gputap  ", text, re.M)
    rows = tap("status", env={"COLUMNS": "80"}).out.splitlines()
    assert max(map(len, rows)) <= 80 and any("second/w.gputap" in row for row in rows)
    named = json.loads(tap("status", "--json").out)["sessions"]
    assert {s["output"] for s in named if s["collector"] in (first.pid, second.pid)} == {"w.gputap"}
    control("stop", second)
    assert (status(first)["state"], status(second)["state"]) == ("recording", "paused")
    first.end()
    second.end()


def test_a_session_in_a_session_has_a_control_of_its_own(session, program, gputap, status, tap,
                                                         work):
    whole = program.command
    program.command = [gputap, "run", "-q", "-o", "inner.gputap", "--", *whole]
    try:
        outer = session("-q")
    finally:
        program.command = whole
    outer.tell("run a 1")
    found = {s["capture"]: s for s in json.loads(tap("status", "--json").out)["sessions"]}
    inner = found[str(work / "inner.gputap")]
    assert inner["following"] == 1
    assert "is paused" in tap("stop", str(work / "inner.gputap")).err
    outer.tell("run b 1")
    assert status(outer)["state"] == "recording"
    assert "is now being recorded" in tap("start", str(work / "inner.gputap")).err
    outer.tell("run c 1")
    outer.end()
    names = {r["name"]: r["count"]
             for r in json.loads(tap("report", "--json", "inner.gputap").out)["kernels"]}
    assert names == {"a": 1, "c": 1}


def test_a_session_in_a_pid_namespace_of_its_own_is_controlled_from_outside(session, program,
                                                                            tap, work):
    unshare = ["unshare", "--pid", "--fork", "--kill-child"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], check=False,
                                                     stderr=subprocess.DEVNULL).returncode:
        pytest.skip("needs the right to make pid namespaces")
    whole = program.command
    program.command = [*unshare, *whole]
    try:
        s = session("--wait")
    finally:
        program.command = whole
    s.tell("run a 1")
    assert "is paused" in tap("stop", str(work / "w.gputap")).err
    s.tell("run b 1")
    time.sleep(1.5)  # silent, but connected
    tap("start", str(work / "w.gputap"))
    s.tell("run c 1")
    s.end()
    names = {r["name"]: r["count"]
             for r in json.loads(tap("report", "--json", "w.gputap").out)["kernels"]}
    assert names == {"a": 1, "c": 1}


def test_a_session_whose_collector_was_killed_runs_no_more(session, status, tap, work):
    s = session()
    s.tell("run a 1")
    folder = status(s)["folder"]
    os.kill(s.pid, signal.SIGKILL)
    s.process.wait()
    assert folder not in tap("status", "--json").out
    assert "no running session writes" in tap("stop", str(work / "w.gputap"), status=1).err
    s.process.stdin.write("run b 1\n")  # the program continues
    s.process.stdin.flush()
    assert s.process.stdout.readline() == "ok\n"
    s.process.communicate(timeout=conftest.HANGS_SECONDS)
    tap("recover", folder)
    tap("report", "--all", "w.gputap")
