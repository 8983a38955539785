# SPDX-License-Identifier: MIT
"""Test that control requests wait neither for the collector nor for a processor, because separate
threads receive and execute them."""
import contextlib
import ctypes
import errno
import os
import pathlib
import platform
import re
import struct

import pytest

import control_programs
from control_programs import control, recorded, session, status  # noqa: F401 fixtures

SCHED_GETATTR = {"x86_64": 315, "aarch64": 275}[platform.machine()]
RESET_ON_FORK = 1
SHORT_NS = 100000


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    return control_programs.Program("refdev", build, tmp_path_factory.mktemp("wake"))


def find_follower(pid):
    """Return the tid of the gputap thread in process @pid, or None."""
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text() == "gputap\n":
            return int(task.name)
    return None


def read_attributes(tid):
    """Return the scheduling flags of thread @tid, and the length of its time slices in ns."""
    block = ctypes.create_string_buffer(48)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.syscall(SCHED_GETATTR, tid, block, 48, 0) == 0, ctypes.get_errno()
    _, policy, flags, _, _, runtime = struct.unpack_from("IIQiIQ", block)
    assert policy == 0
    return flags, runtime


def gives_short_slices():
    return tuple(map(int, re.findall(r"\d+", platform.release())[:2])) >= (6, 12)


def is_filtered(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return "\nSeccomp:\t0\n" not in text


def test_the_thread_that_follows_has_short_slices_and_the_program_has_not(session, status):
    s = session()
    s.tell("run a 1")
    pid = status(s)["pid"]
    control_programs.wait_until(lambda: find_follower(pid))
    tid = find_follower(pid)
    if not is_filtered(pid):
        control_programs.wait_until(lambda: read_attributes(tid)[0] == RESET_ON_FORK)
        assert not gives_short_slices() or read_attributes(tid)[1] == SHORT_NS
    flags, slice_ns = read_attributes(pid)
    assert flags == 0 and slice_ns != SHORT_NS
    s.end()


def test_a_program_that_filters_system_calls_is_not_killed(session, program, control, status,
                                                           recorded, work):
    control_programs.compile_c("cc", "-Wall", "-Werror", control_programs.SOURCE / "filtered.c",
                               "-o", work / "filtered")
    whole = program.command
    program.command = [work / "filtered", *whole]
    try:
        s = session()
    finally:
        program.command = whole
    s.tell("run a 1")
    assert is_filtered(status(s)["pid"])
    control("stop", s)
    s.tell("run b 1")
    control("start", s)
    s.tell("run c 1")
    s.end()
    assert recorded() == {"a": 1, "c": 1}


PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 17, 0x4206, 0x4207, 0x40000000


@contextlib.contextmanager
def held(tid):
    """Stop only thread @tid, as if no processor were available to it."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(PTRACE_SEIZE, tid, None, None):
        assert ctypes.get_errno() == errno.EPERM
        pytest.skip("needs the right to trace a process")
    libc.ptrace(PTRACE_INTERRUPT, tid, None, None)
    assert os.WIFSTOPPED(os.waitpid(tid, WALL)[1])
    yield
    assert libc.ptrace(PTRACE_DETACH, tid, None, None) == 0


def test_start_and_stop_do_not_wait_for_the_collector(session, control, recorded, work):
    s = session()
    s.tell("run a 1")
    with held(s.pid):
        assert "is paused" in control("stop", s).err
        s.tell("run b 1")
        assert "is now being recorded" in control("start", s).err
        s.tell("run c 1")
    s.end()
    assert recorded() == {"a": 1, "c": 1}
