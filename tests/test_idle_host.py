# SPDX-License-Identifier: MIT
"""Test causes of idle time outside any call, from the state of the launching thread. The program
tests/idle/idle_host.c provokes one state at a time and prints its times."""
import re
import subprocess
import sys

import idle_scenes
import pytest
from idle_scenes import check_shares, check_sums


@pytest.fixture(scope="session")
def program(repo, build, tmp_path_factory):
    library = build / "soft/refdev/librefdev.so.1"
    path = tmp_path_factory.mktemp("idle") / "idle_host"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{repo}", f"-I{repo}/include",
        repo / "tests/idle/idle_host.c", "-o", path, library, f"-Wl,-rpath,{library.parent}",
        "-lpthread"
    ],
                   check=True)
    return path


@pytest.fixture
def trace(tap, program):
    """Return a function: trace(rule) returns the program's stamps and the report."""
    def call(rule):
        built, report = idle_scenes.trace(tap, (program, rule))
        check_sums(report)
        return built, report
    return call


def find(report, cause):
    """Return the row of a cause."""
    (row, ) = [r for r in report["idle"] if r["cause"] == cause]
    return row


# rule -> its cause, and what the threads waited for
RULES = {
    "lock": ("host_lock", r"held by (holder|thread) \(thread \d+\).*"),
    "inversion": ("host_lock", r"held by holder \(thread \d+\), which waits for a processor"),
    "condition": ("host_condition", None),
    "pipe": ("host_pipe", r"pipe from idle_host \(pid \d+\)"),
    "file": ("host_file", r"/.*/batch\.bin"),
    "socket": ("host_socket", "socket.*"),
    "sleeping": ("host_sleeping", None),
    "polling": ("host_polling", None),
    "child": ("host_child", r"idle_host \(pid \d+\)"),
    "computing": ("host_computing", None),
    "faults": ("host_faults", None),
    "huge_faults": ("host_faults", None),
    "runnable": ("host_runnable", None),
    "stopped": ("host_stopped", "by a signal"),
}


@pytest.mark.parametrize("rule", sorted(RULES))
def test_the_state_of_the_thread_is_the_cause(trace, rule):
    built, report = trace(rule)
    cause, wait = RULES[rule]
    assert cause in built
    if rule == "huge_faults":
        # the kernel counts system time in ticks, so that some gaps are computing
        found = sum(r["idle_ns"] for r in report["idle"]
                    if r["cause"] in ("host_faults", "host_computing", "host_runnable"))
        assert found >= 0.95 * sum(built.values())
        assert find(report, cause)["idle_ns"] >= 0.05 * built[cause]
        return
    check_shares(built, report)
    row = find(report, cause)
    if wait:
        assert re.fullmatch(wait, row["waits_for"]), row["waits_for"]
    assert (row["after_call"], row["before_call"]) == ("refdevStreamSynchronize",
                                                       "refdevLaunchKernel")
    assert row["between_ns"] <= row["idle_ns"]


def test_the_mostly_column_joins_threads_that_held_a_lock(trace):
    _, report = trace("lock")
    mostly = find(report, "host_lock")["mostly"]
    assert re.match(r"held by holder \((\d threads|thread \d+)\)", mostly), mostly


def test_a_long_gap_names_the_holder_of_the_lock(trace, tap):
    _, report = trace("lock")
    gap = report["gaps"][0]
    assert gap["cause"] == "host_lock"
    assert gap["in"] == gap["waits_for"] and gap["in"].startswith("held by ")
    assert gap["before_call"] == "refdevLaunchKernel"
    text = tap("report", "i.gputap", "-t", "idle,gaps").out
    assert "waiting for a lock" in text and "before refdevLaunchKernel" in text


def test_the_tables_and_the_timeline_name_the_cause_and_the_calls(trace, tap, work):
    from consumers import perfetto
    _, report = trace("file")
    tap("export", "i.gputap", "-o", "i.pftrace")
    (row, *_) = perfetto.ask(work / "i.pftrace", slices="""
        select s.name, s.dur, extract_arg(s.arg_set_id, 'debug.cause') as cause,
               extract_arg(s.arg_set_id, 'debug.waits_for') as waits_for,
               extract_arg(s.arg_set_id, 'debug.before_call') as before_call
        from slice s where s.category = 'idle' order by s.dur desc""")["slices"]
    assert row["cause"] == "host_file" and row["waits_for"].endswith("/batch.bin")
    assert row["before_call"] == "refdevLaunchKernel"
    assert row["name"] == "reading or writing a file"


def test_time_before_the_first_step_is_apart_from_the_steps(trace, tap):
    built, report = trace("startup")
    (ends, ) = report["start_up"]
    (device, ) = report["devices"]
    assert ends["before_first_activity_ns"] > 0 and ends["after_last_activity_ns"] > 0
    assert built["startup"] * 0.95 <= ends["before_first_step_idle_ns"] < device["idle_ns"]
    assert ends["before_first_step_idle_ns"] <= ends["before_first_step_ns"] < device["span_ns"]
    first_screen = tap("report", "i.gputap").out
    assert "start-up " in first_screen and "; then steps for " in first_screen
    text = tap("report", "i.gputap", "-t", "idle").out
    assert "Not in this table: " in text and "start-up " in text


def test_each_cause_has_its_evidence(trace):
    built, report = trace("computing")
    row = find(report, "host_computing")
    assert row["cpu_ns"] == pytest.approx(built["host_computing"], rel=0.05)
    _, report = trace("faults")
    assert find(report, "host_faults")["minor_faults"] >= 5 * (48 << 20) // 4096
    _, report = trace("runnable")
    row = find(report, "host_runnable")
    assert row["involuntary_switches"] > 0 and row["run_delay_ns"] == row["idle_ns"]
    _, report = trace("sleeping")
    row = find(report, "host_sleeping")
    assert row["voluntary_switches"] >= 5 and row["cpu_ns"] == 0


COLLECTS = """
import ctypes, gc, sys, time
r = ctypes.CDLL(sys.argv[1])
void, function = ctypes.c_void_p, ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
nothing = function(lambda group, arguments: None)
class Dim(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]
r.refdevLaunchKernel.argtypes = [void, Dim, Dim, void, ctypes.c_size_t, void]
r.refdevStreamSynchronize.argtypes = [void]
stream, kernel = void(), void()
assert not r.refdevStreamCreate(ctypes.byref(stream))
assert not r.refdevRegisterKernel(ctypes.byref(kernel), b"nothing", nothing)

def launch():
    assert not r.refdevLaunchKernel(kernel, Dim(1, 1, 1), Dim(1, 1, 1), None, 0, stream)
    assert not r.refdevStreamSynchronize(stream)

gc.disable()
heap = []
for i in range(400000):
    node = [None]
    node[0] = node
    heap.append(node)
for i in range(3):
    launch()
    begin, cpu = time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.thread_time_ns()
    gc.collect()
    used = time.thread_time_ns() - cpu
    print("host_computing", begin, begin + used)
    print("host_runnable", begin + used, time.clock_gettime_ns(time.CLOCK_BOOTTIME))
    launch()
"""


def test_a_pause_of_a_garbage_collector_is_computing(tap, build, work):
    (work / "collects.py").write_text(COLLECTS)
    built, report = idle_scenes.trace(
        tap, (sys.executable, "collects.py", build / "soft/refdev/librefdev.so.1"))
    check_shares(built, report)
    assert find(report, "host_computing")["idle_ns"] > 20e6
