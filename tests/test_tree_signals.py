# SPDX-License-Identifier: MIT
"""Test signals. A signal sent to gputap reaches the program once. A signal from a terminal reaches
gputap and the program."""

import os
import pathlib
import pty
import signal

import pytest

from processes import Tree, child_of, finish, wait_until


@pytest.fixture
def tree(build, work):
    return Tree(build)


def state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def catch(tree, *numbers):
    process = tree.start("catch", *(int(n) for n in numbers), program=tree.bare)
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGWINCH, signal.SIGRTMIN + 1])
def test_a_signal_sent_to_gputap_reaches_the_program(tree, number):
    process = catch(tree, number)
    child = child_of(process)
    os.kill(process.pid, number)
    wait_until(lambda: pending_free(child), "the signal")
    wait_until(lambda: pending_free(process.pid), "gputap")
    os.kill(process.pid, signal.SIGTERM)
    result = finish(process)
    assert result.status == 7
    assert f"{int(number)}: 1" in result.out.splitlines()


def pending_free(pid):
    """Return true if no signal is pending."""
    lines = dict(
        line.split(":\t", 1)
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        if ":\t" in line)
    return int(lines["ShdPnd"], 16) == 0 and int(lines["SigPnd"], 16) == 0


def test_death_by_a_forwarded_signal_is_ours_too(tree):
    process = tree.start("calls:3", "say:ready", "sleep:60000")
    while process.stdout.readline() != "ready\n":
        pass
    os.kill(process.pid, signal.SIGTERM)
    assert finish(process).status == -signal.SIGTERM
    assert tree.read()["processes"][0]["calls"] == 4


def test_control_c_ends_both_and_the_capture_is_whole(tree, work):
    """A real terminal sends the signal to gputap and to the program. The program receives the
    signal once."""
    command = [
        str(tree.gputap), "run", "-q", "-o", "c.gputap",
        str(tree.caller), "calls:3", "say:ready", "sleep:60000"
    ]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(terminal, 1024)
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT
    assert tree.read()["processes"][0]["calls"] == 4


def test_control_c_is_not_sent_on_a_second_time(tree):
    command = [
        str(tree.gputap), "run", "-q", "-o", "c.gputap",
        str(tree.bare), "catch",
        str(int(signal.SIGINT))
    ]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(terminal, 1024)
    os.write(terminal, b"\x03")
    while b"^C" not in seen:
        seen += os.read(terminal, 1024)
    wait_until(lambda: pending_free(pid), "gputap")
    os.kill(pid, signal.SIGTERM)
    while b"2: " not in seen:
        seen += os.read(terminal, 1024)
    os.waitpid(pid, 0)
    os.close(terminal)
    assert b"2: 1\r\n" in seen


def test_a_signal_that_the_program_sends_to_its_group_comes_once(tree):
    result = tree.run("-c", "trap 'echo came' USR1; for i in $(seq 50); do kill -USR1 0; "
                      "sleep 0.01; done", program="/bin/sh")
    assert result.out == "came\n" * 50


def test_control_z_stops_both_and_continue_wakes_both(tree):
    command = [
        str(tree.gputap), "run", "-q", "-o", "c.gputap",
        str(tree.caller), "awaits", "calls:3", "say:ready", "continued", "exit:3"
    ]
    pid, terminal = pty.fork()
    if pid == 0:
        # run like a job of a shell: in a separate group, in a session whose leader is alive
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execv(command[0], command)
        _, status = os.waitpid(job, os.WUNTRACED)
        stopped = os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGTSTP
        os.killpg(job, signal.SIGCONT)
        _, status = os.waitpid(job, 0)
        os._exit(0 if stopped and os.WIFEXITED(status) and os.WEXITSTATUS(status) == 3 else 1)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(terminal, 1024)
    os.write(terminal, b"\x1a")
    try:
        while os.read(terminal, 1024):
            pass
    except OSError:
        pass  # the other end is closed
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 0
    assert tree.read()["processes"][0]["calls"] == 4


def test_a_program_that_stops_itself_can_be_continued(tree):
    process = tree.start("calls:3", "stop", "calls:5", "exit:2")
    child = child_of(process)
    wait_until(lambda: state(child) == "T", "the stop")
    os.kill(process.pid, signal.SIGCONT)
    result = finish(process)
    assert result.status == 2
    assert tree.read()["processes"][0]["calls"] == 9
