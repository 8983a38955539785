# SPDX-License-Identifier: MIT
"""Test recording windows and the flight recorder on each runtime: a program is recorded only in its
windows, and every kernel is linked to its launch."""
import csv
import json
import pathlib
import time

import pytest

import control_programs
from control_programs import control, recorded, session, status  # noqa: F401 fixtures

LAUNCHES = {
    "refdev": "refdevLaunchKernel",
    "opencl": "clEnqueueNDRangeKernel",
    "hip": "hipLaunchKernel",
    "level_zero": "zeCommandListAppendLaunchKernel",
    "cuda": "cuLaunchKernel",
}


@pytest.fixture(scope="module", params=control_programs.RUNTIMES)
def program(request, build, tmp_path_factory):
    try:
        return control_programs.Program(request.param, build,
                                        tmp_path_factory.mktemp(f"control_{request.param}"))
    except control_programs.Missing as missing:
        pytest.skip(str(missing))


def check_links(program, path="w.csv"):
    """Check that kernels and launches correspond one to one."""
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    kernels = [r["correlation"] for r in rows if r["kind"] == "device"
               and r["operation"] == "kernel"]
    launches = [r["correlation"] for r in rows if r["kind"] == "call"
                and r["operation"] == LAUNCHES[program.runtime]]
    assert sorted(kernels) == sorted(launches) and len(set(kernels)) == len(kernels)


def kernels_in(tap, path):
    tap("export", "-f", path, "-o", "s.csv")
    with open("s.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    return {n: sum(r["name"] == n for r in rows if r["kind"] == "device") for n in "abcd"}


def test_stop_and_start(program, session, control, status, recorded):
    s = session()
    s.tell("run a 20")
    control("stop", s)
    assert (status(s)["state"], status(s)["not_following"]) == ("paused", 0)
    s.tell("run b 20")
    control("start", s)
    s.tell("run c 20")
    control("stop", s)
    s.tell("run d 20")
    s.end()
    assert recorded() == {"a": 20, "c": 20}
    check_links(program)


def test_a_session_that_begins_paused(program, session, control, recorded):
    s = session("--paused")
    s.tell("run a 5", "run b 5")
    control("start", s)
    s.tell("run c 30", "run a 7")
    s.end()
    assert recorded() == {"c": 30, "a": 7}
    check_links(program)


def test_a_session_that_is_started_before_the_program_uses_its_runtime(program, session, control,
                                                                       recorded):
    s = session("--paused")
    s.tell("nothing")
    control("start", s)
    s.tell("run c 30")
    s.end()
    assert recorded() == {"c": 30}
    check_links(program)


@pytest.mark.parametrize("source", ["gputap", "roctx", "nvtx"])
def test_a_window_of_ranges(program, session, recorded, source):
    s = session("--from", "step#3", "--to", "step#5")
    s.tell(f"by {source}")
    for _ in range(7):
        s.tell("run a 1", "begin step", "run b 2", "end")
    s.end()
    assert recorded() == {"b": 6, "a": 2}
    check_links(program)


def test_many_windows(program, session, control, recorded):
    s = session("--paused")
    for i in range(10):
        s.tell(f"run {'ab'[i % 2]} 3")
        control("start", s)
        s.tell("run c 4")
        control("stop", s)
    s.tell("run d 3")
    s.end()
    assert recorded() == {"c": 40}
    check_links(program)


def test_a_flight_recorder_and_its_snapshot(program, session, control, status, recorded, tap,
                                            work):
    """The snapshot and the final capture each contain every kernel that was recorded before."""
    s = session("--keep", "1h")
    s.tell("run a 30", "run b 30")
    control_programs.wait_until(lambda: status(s)["kernels"] == 60)
    control("snapshot", s, "-o", "mid.gputap")
    s.tell("run c 30")
    s.end()
    middle = kernels_in(tap, "mid.gputap")
    assert middle == {"a": 30, "b": 30, "c": 0, "d": 0}
    assert recorded() == {"a": 30, "b": 30, "c": 30}
    check_links(program)


def test_a_flight_recorder_leaves_out_what_is_old_and_counts_it(program, session, tap, work):
    s = session("--keep", "2s")
    s.tell("run a 50")
    time.sleep(2.5)
    s.tell("run b 5")
    s.tell("run c 5")
    s.end()
    info = json.loads(tap("info", "--json", "w.gputap").out)
    found = kernels_in(tap, "w.gputap")
    assert found["c"] == 5 and found["a"] in (0, 50)
    assert info["seen"] == info["recorded"] + info["dropped"] + info["evicted"]
    assert not info["dropped"]


def test_device_work_triggers_by_its_own_time(program, session, tap, work):
    """Each runtime takes its timestamps from a different clock."""
    s = session("--keep", "1h", "--keep-after", "0", "--trigger",
                "kind=kernel and name=b and duration>1ns")
    s.tell("run a 30")
    control_programs.wait_until(lambda: s.tell("run b 1") or pathlib.Path("w.1.gputap").exists())
    s.end()
    kept = json.loads(tap("info", "--json", "w.1.gputap").out)["retained"]
    assert kept["reason"] == "trigger" and kept["what"].startswith("b took ")


@pytest.mark.parametrize("program", ["cuda"], indirect=True)
@pytest.mark.parametrize("mode, early", [("default", False), ("lite", True)])
def test_cupti_is_opened_when_the_first_window_begins(program, session, control, status, recorded,
                                                      mode, early):
    """Lite mode needs CUPTI from the start, to record each graph launch as one record."""
    s = session("--paused", "--mode", mode)
    s.tell("run a 5")
    maps = pathlib.Path(f"/proc/{status(s)['pid']}/maps")
    assert ("libcupti" in maps.read_text()) == early
    control("start", s)
    assert "libcupti" in maps.read_text()
    s.tell("run b 40")
    s.end()
    assert recorded() == {"b": 40}


@pytest.mark.parametrize("program", ["cuda"], indirect=True)
def test_cupti_is_not_opened_in_the_child_of_a_program_that_uses_cuda(program, session, control,
                                                                      status, recorded):
    """CUPTI would hang in the child of a process that has used CUDA."""
    s = session("--paused", "--wait")
    s.tell("run a 5")
    s.begin("fork")
    s.tell("nothing")
    control("start", s)
    s.tell("nothing")
    s.begin("exit")
    assert s.process.stdout.readline() == "ok\n"
    s.tell("run b 5")
    s.end()
    assert recorded() == {"b": 5}


def test_device_work_triggers_by_its_name_before_its_clock_is_known(program, session, tap, work):
    s = session("--trigger", "kind=kernel and name=b")
    s.tell("run a 3", "run b 1")
    s.end()
    kept = json.loads(tap("info", "--json", "w.1.gputap").out)["retained"]
    assert kept["reason"] == "trigger" and kept["what"].startswith(("b took ", "b ran in "))
    assert not pathlib.Path("w.2.gputap").exists()
