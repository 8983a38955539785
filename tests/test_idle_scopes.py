# SPDX-License-Identifier: MIT
"""Test idle time in parts of recordings: --where, several captures, ranks, flight recorders."""
import json
import os
import subprocess

import idle_scenes
import pytest
from conftest import REPO

TIMES, PROVOKED_NS = 10, 20_000_000  # as in tests/idle/stamps.h


@pytest.fixture(scope="session")
def program(build, tmp_path_factory):
    path = tmp_path_factory.mktemp("idle_slices") / "idle_refdev"
    library = build / "soft/refdev/librefdev.so.1"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{REPO}", f"-I{REPO}/include",
        REPO / "tests/idle/idle_refdev.c", "-o", path, library, build / "libgputap.so.0",
        f"-Wl,-rpath,{library.parent}:{build}", "-lpthread"
    ],
                   check=True)
    return path


@pytest.fixture
def trace(tap, program, work):
    """Return a function: trace("step", out="a.gputap") traces the program and returns its
    stamps."""
    def call(rule, options=(), out="i.gputap", env=None, words=None):
        return idle_scenes.read_stamps(
            tap("run", "-q", "-f", "-o", out, *options, "--", *(words or [program, rule]),
                env={"REFDEV_DEVICES": "2", **(env or {})}).out)
    return call


@pytest.fixture
def report(tap):
    def call(*captures, where=None, by=None, tables="idle,gaps,devices"):
        options = [*(("--where", where) if where else ()), *(("--by", by) if by else ())]
        return json.loads(
            tap("report", *(captures or ("i.gputap", )), "--json", "--top", "0", "-t", tables,
                *options).out)
    return call


def idle_ns(report, **columns):
    return sum(r["idle_ns"] for r in report["idle"]
               if all(r[key] == value for key, value in columns.items()))


def host_ns(report):
    """Return the idle time outside any call, of all states."""
    return sum(r["idle_ns"] for r in report["idle"] if idle_scenes.is_host(r["cause"]))


def test_one_step_has_the_gap_that_its_work_ended(trace, report):
    trace("step")
    whole = report()
    steps = [report(where=f"range=step#{i}") for i in range(1, TIMES + 1)]
    for step in steps:
        rows = [r for r in step["idle"] if idle_scenes.is_host(r["cause"])]
        host = max(rows, key=lambda r: r["idle_ns"])
        assert host["gaps"] == 1 and host["mostly"] == "step 100%"
        assert PROVOKED_NS <= host_ns(step) <= idle_ns(step)
    assert sum(map(idle_ns, steps)) == idle_ns(report(where="range=step")) <= idle_ns(whole)
    outside = report(where="not range=step")
    assert idle_ns(outside) + sum(map(idle_ns, steps)) == idle_ns(whole)
    assert idle_ns(outside) < PROVOKED_NS


def test_times_share_a_runs_idle_time_out(trace, report):
    trace("step")
    whole = report()
    middle = sorted(g["at_ns"] for g in whole["gaps"])[len(whole["gaps"]) // 2]
    parts = [report(where=f"at<{middle}ns"), report(where=f"at>={middle}ns")]
    assert sum(map(idle_ns, parts)) == idle_ns(whole)
    assert all(map(idle_ns, parts))
    before, after = report(where="at<=step#5"), report(where="at>step#5")
    assert idle_ns(before) + idle_ns(after) == idle_ns(whole)
    steps = [idle_ns(report(where=f"range=step#{i}")) for i in range(1, TIMES + 1)]
    assert sum(steps[:5]) <= idle_ns(before) <= idle_ns(whole) - sum(steps[5:])


def test_devices_and_processes_have_their_own_idle_time(trace, report, program):
    trace("synchronising", words=["sh", "-c", f"{program} synchronising & {program} host; wait"])
    whole = report()
    devices = {r["device"] for r in whole["idle"]}
    assert len(devices) == 2
    for device in devices:
        one = report(where=f"device={device}")
        assert {r["device"] for r in one["idle"]} == {device}
        assert idle_ns(one) == idle_ns(whole, device=device)
    by = report(by="process", tables="idle")
    pids = {r["pid"] for r in by["idle"]}
    assert len(pids) == 2
    for pid in pids:
        assert idle_ns(report(where=f"process={pid}")) == idle_ns(by, pid=pid)


def test_between_two_captures_no_device_was_idle(trace, report):
    first = trace("host", out="a.gputap")
    second = trace("host", out="b.gputap")
    both = report("a.gputap", "b.gputap")
    apart = [report("a.gputap"), report("b.gputap")]
    assert not apart[0]["not_recorded"] and not apart[1]["not_recorded"]
    assert idle_ns(both) == sum(map(idle_ns, apart))
    assert host_ns(both) >= 0.95 * (first["host"] + second["host"])
    ((_, ns), ) = [(r["device"], r["ns"]) for r in both["not_recorded"]]
    (device, ) = both["devices"]
    assert ns == device["unrecorded_ns"] > 0
    assert device["span_ns"] == sum(a["devices"][0]["span_ns"] for a in apart)


def test_ranks_have_the_idle_time_that_their_work_ended(trace, report):
    for rank in range(2):
        trace("host", out=f"{rank}.gputap",
              env={"OMPI_COMM_WORLD_RANK": f"{rank}", "OMPI_COMM_WORLD_SIZE": "2"})
    captures = ("0.gputap", "1.gputap")
    by = report(*captures, by="rank", tables="idle,devices")
    for rank in range(2):
        alone = report(captures[rank])
        assert idle_ns(by, rank=rank) == idle_ns(alone)
        assert idle_ns(report(*captures, where=f"rank={rank}")) == idle_ns(alone)
        (device, ) = [d for d in by["devices"] if d["rank"] == rank]
        assert device["idle_ns"] == alone["devices"][0]["idle_ns"]


def test_what_a_flight_recorder_threw_away_is_no_cause(trace, report, tap):
    built = trace("host", options=("--keep", "500ms"), env={"IDLE_TIMES": "75"})
    kept = report()
    assert json.loads(tap("info", "--json", "i.gputap").out)["retained"]["thinned"]
    (device, ) = kept["devices"]
    assert idle_ns(kept) == device["idle_ns"] == device["span_ns"] - device["busy_ns"]
    assert 0 < idle_ns(kept) < built["host"] * 0.7
    # on a busy machine, launches are delayed as well
    assert host_ns(kept) >= 0.5 * idle_ns(kept)
    assert os.path.getsize("i.gputap")


def test_a_capture_that_was_cut_out_has_idle_time_only_if_no_work_of_its_time_is_missing(
        trace, report, tap):
    trace("step")
    tap("export", "i.gputap", "--where", "range=step", "-o", "steps.gputap")
    tap("export", "i.gputap", "--where", "at<=step#5", "-o", "begin.gputap")
    steps, begin = report("steps.gputap"), report("begin.gputap")
    (device, ) = steps["devices"]
    assert not steps["idle"] and not steps["gaps"]
    assert not device["idle_ns"] and device["unrecorded_ns"] >= 9 * PROVOKED_NS
    assert host_ns(begin) >= 4 * PROVOKED_NS and not begin["not_recorded"]
    assert idle_ns(begin) <= idle_ns(report(where="at<=step#5"))
