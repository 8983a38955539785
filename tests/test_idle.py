# SPDX-License-Identifier: MIT
"""Test causes of idle time. Programs in tests/idle provoke one cause at a time and print its
times."""
import json
import os
import re
import subprocess

import idle_scenes
import mpi_jobs
import pytest
from consumers import perfetto
from idle_scenes import check_shares, check_sums, is_host

@pytest.fixture(scope="session")
def programs(repo, build, tmp_path_factory):
    """Return a function: make(name, ...) builds tests/idle/NAME.c once and returns the program's
    path."""
    folder = tmp_path_factory.mktemp("idle")
    made = {}

    def make(name, *words, kind=""):
        path = folder / (name + kind)
        if path not in made:
            subprocess.run([
                "cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{repo}", f"-I{repo}/include",
                repo / f"tests/idle/{name}.c", "-o", path, *words, "-lpthread"
            ],
                           check=True)
            made[path] = True
        return path
    return make


@pytest.fixture
def refdev_library(build):
    library = build / "soft/refdev/librefdev.so.1"
    return [library, f"-Wl,-rpath,{library.parent}"]


@pytest.fixture
def refdev(programs, build, refdev_library):
    return programs("idle_refdev", *refdev_library, build / "libgputap.so.0",
                    f"-Wl,-rpath,{build}")


@pytest.fixture
def opencl(programs):
    return programs("idle_opencl", "-lOpenCL")


@pytest.fixture
def trace(tap, work):
    """Return a function: trace(program, words...) returns the program's stamps as {cause: ns} and
    the report of the first device."""
    def call(program, *words, options=(), env=None):
        return idle_scenes.trace(tap, (program, *words), options, env)
    return call


@pytest.mark.parametrize("rule", [
    "host", "synchronising", "copying", "blocked", "allocating", "freeing", "other_call",
    "launching", "started_late"
])
def test_idle_time_of_refdev_has_the_cause_that_was_built_in(trace, refdev, rule):
    built, report = trace(refdev, rule, env={"REFDEV_DEVICES": "2"})
    assert list(built) == [rule]
    check_shares(built, report)
    check_sums(report)


def test_the_range_is_said_that_the_thread_was_in(trace, refdev):
    built, report = trace(refdev, "range", env={"REFDEV_DEVICES": "2"})
    check_shares(built, report)
    host = max((r for r in report["idle"] if is_host(r["cause"])), key=lambda r: r["idle_ns"])
    assert host["mostly"].startswith("thinking ")
    gap = report["gaps"][0]
    assert is_host(gap["cause"]) and (gap["range"], gap["in"]) == ("thinking", None)
    assert gap["cause_ns"] <= gap["gap_ns"] and gap["caller_tid"]


def test_what_was_paused_is_neither_busy_nor_idle(trace, tap, work, refdev):
    built, report = trace(refdev, "paused", env={"REFDEV_DEVICES": "2"})
    paused = built.pop("paused")
    (device, ) = report["devices"]
    check_shares(built, report)
    check_sums(report)
    assert all(r["cause"] != "unrecorded" for r in report["idle"])
    assert paused * 0.95 <= device["unrecorded_ns"] <= paused * 1.2
    assert device["span_ns"] == device["busy_ns"] + device["idle_ns"]
    assert device["busy_share"] == pytest.approx(device["busy_ns"] / device["span_ns"], rel=1e-4)
    assert sum(g["gap_ns"] for g in report["gaps"]) == device["idle_ns"]
    assert [(d["device"], d["ns"]) for d in report["not_recorded"]] == [
        (device["device"], device["unrecorded_ns"])]
    text = tap("report", "i.gputap", "-t", "idle").out
    assert "\n  Not recorded, so neither busy nor idle: 4" in text
    assert "not recorded" in tap("report", "i.gputap", "-t", "devices").out
    assert "not recorded for 4" in tap("report", "i.gputap").out
    tap("export", "i.gputap", "-o", "i.pftrace")
    answer = perfetto.ask(work / "i.pftrace", slices="""
        select s.name, sum(s.dur) as ns from slice s
        where s.category = 'idle' and s.name = 'not recorded'""")
    assert answer["slices"][0]["ns"] == pytest.approx(device["unrecorded_ns"], rel=0.02)


def test_a_diff_takes_no_pause_for_idle_time(trace, tap, refdev):
    _, report = trace(refdev, "paused", env={"REFDEV_DEVICES": "2"})
    (device, ) = report["devices"]
    os.rename("i.gputap", "j.gputap")
    trace(refdev, "paused", env={"REFDEV_DEVICES": "2"})
    rows = json.loads(tap("diff", "j.gputap", "i.gputap", "--json").out)["devices"]
    name = f"device {device['device']}: idle"
    (idle, ) = [r for r in rows if r["name"] == name]
    assert idle["total_baseline_ns"] == device["idle_ns"]


def test_calls_that_were_not_recorded_are_not_taken_for_none(trace, refdev):
    built, report = trace(refdev, "host", options=("-m", "standard"),
                          env={"REFDEV_DEVICES": "2"})
    check_shares({"unknown": built["host"]}, report)


def test_domains_that_have_the_works_calls_know_what_the_host_did(trace, refdev):
    for domains, cause in (("refdev", "host"), ("opencl,refdev", "host")):
        built, report = trace(refdev, "host", options=("-d", domains),
                              env={"REFDEV_DEVICES": "2"})
        check_shares({cause: built["host"]}, report)


def test_by_and_where_go_by_the_work_that_ended_the_gap(trace, tap, refdev):
    _, report = trace(refdev, "blocked", env={"REFDEV_DEVICES": "2"})
    idle = sum(r["idle_ns"] for r in report["idle"])

    def ask(*words):
        rows = json.loads(tap("report", "i.gputap", "--json", "-t", "idle", *words).out)["idle"]
        return [r for r in rows if r["device"] == 0]
    assert sum(r["idle_ns"] for r in ask("--by", "queue,name")) == idle
    assert {r["name"] for r in ask("--by", "name")} == {"nothing"}
    assert ask("--where", "name=long_one") == []
    (held, ) = [r for r in report["idle"] if r["cause"] == "blocked"]
    assert held["mostly"] == "long_one 100%"
    gap = report["gaps"][0]
    assert (gap["cause"], gap["in"], gap["range"]) == ("blocked", "long_one", None)


@pytest.mark.parametrize("rule", ["host", "compiling", "allocating", "unknown"])
def test_idle_time_of_opencl_has_the_cause_that_was_built_in(trace, opencl, rule):
    built, report = trace(opencl, rule)
    assert rule in built
    check_shares(built, report)
    check_sums(report)


def test_a_thread_of_the_runtime_that_waits_for_a_processor_is_not_the_driver(trace, opencl):
    built, report = trace(opencl, "starved")
    check_sums(report)
    idle = {r["cause"]: r["idle_ns"] for r in report["idle"]}
    # delays below 1 ms, and some that end together with the wait, are not seen
    assert idle["host_runnable"] >= 0.6 * built["host_runnable"] > 5e6
    assert idle.get("started_late", 0) <= 0.4 * built["host_runnable"]
    (row, ) = [r for r in report["idle"] if r["cause"] == "host_runnable"]
    assert re.fullmatch(r"idle_opencl \(thread \d+\)", row["waits_for"]), row


@pytest.mark.parametrize("rule", ["blocked", "barrier"])
def test_a_queue_of_opencl_is_held_by_what_waits_for_another_device(trace, opencl, rule):
    built, report = trace(opencl, rule, env={"POCL_DEVICES": "pthread pthread"})
    assert list(built) == ["blocked"]
    check_shares(built, report)
    (held, ) = [r for r in report["idle"] if r["cause"] == "blocked"]
    assert held["mostly"] == "long_one 100%"


@pytest.mark.parametrize("kind", sorted(mpi_jobs.KINDS))
def test_time_in_a_call_of_all_ranks_is_told_apart(trace, programs, refdev_library, kind):
    library = mpi_jobs.library_of(kind)
    if not library:
        package = {"mpich": "mpich", "openmpi": "openmpi-bin"}[kind]
        pytest.skip(f"needs {mpi_jobs.KINDS[kind][0]}: apt install {package}")
    program = programs("idle_mpi", *mpi_jobs.KINDS[kind][3], *refdev_library, library,
                       f"-Wl,-rpath,{os.path.dirname(library)}", kind=kind)
    launcher, *words = mpi_jobs.launcher(kind, 2)
    built, report = trace(launcher, *words, program, env={"REFDEV_DEVICES": "2"})
    assert list(built) == ["collective"]
    check_shares(built, report)


def test_perfetto_draws_idle_time_by_cause(trace, tap, work, refdev):
    built, report = trace(refdev, "blocked", env={"REFDEV_DEVICES": "2"})
    tap("export", "i.gputap", "-o", "i.pftrace")
    answer = perfetto.ask(work / "i.pftrace", complaints=perfetto.COMPLAINTS, slices="""
        select s.ts, s.dur, s.name, s.depth, s.category, d.name as device,
               extract_arg(s.arg_set_id, 'debug.cause') as cause,
               extract_arg(s.arg_set_id, 'debug.wait_target') as wait_target,
               extract_arg(s.arg_set_id, 'debug.gap_ns') as gap_ns
        from slice s join track t on s.track_id = t.id join track d on t.parent_id = d.id
        where t.name = 'idle' and d.name = 'device 0: refdev 0' order by s.ts""")
    slices = answer["slices"]
    assert not answer["complaints"]
    assert all(s["depth"] == 0 and s["category"] == "idle" and s["dur"] <= s["gap_ns"]
               for s in slices)
    assert all(a["ts"] + a["dur"] <= b["ts"] for a, b in zip(slices, slices[1:]))
    drawn = sum(s["dur"] for s in slices if s["cause"] == "blocked")
    idle = {r["cause"]: r["idle_ns"] for r in report["idle"]}
    assert built["blocked"] * 0.95 <= drawn <= idle["blocked"]
    assert {s["wait_target"] for s in slices if s["cause"] == "blocked"} == {"long_one"}


def test_an_exports_filter_chooses_whose_gaps(trace, tap, work, refdev):
    trace(refdev, "blocked", env={"REFDEV_DEVICES": "2"})
    for where, there in (("name=nothing", True), ("name=long_one and device=0", False)):
        tap("export", "-f", "i.gputap", "--where", where, "-o", "i.pftrace")
        answer = perfetto.ask(work / "i.pftrace", slices="""
            select extract_arg(s.arg_set_id, 'debug.cause') as cause, s.dur
            from slice s where s.category = 'idle'""")
        assert there == any(s["cause"] == "blocked" and s["dur"] > 10**7 for s in answer["slices"])
