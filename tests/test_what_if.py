# SPDX-License-Identifier: MIT
"""Test gputap what-if. Programs on the reference accelerator (tests/refdev/what_if_program.c) have
known dependencies. The durations in the capture itself determine the effect of a change, so the
load of the machine does not matter."""
import json
import os
import subprocess

import pytest

import mpi_jobs
import python_tables
from python_tables import gputap

SCENES = ["synchronous", "queued", "host_bound", "mixed", "events", "two_streams", "graph",
          "threads", "lock", "two_ahead", "blocking_copy"]


@pytest.fixture(scope="module")
def program(repo, build, tmp_path_factory):
    path = tmp_path_factory.mktemp("what-if") / "what_if_program"
    library = build / "soft/refdev/librefdev.so.1"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", "-D_GNU_SOURCE", f"-I{repo}",
        f"-I{repo}/include", repo / "tests/refdev/what_if_program.c", "-o", path, library,
        f"-Wl,-rpath,{library.parent}", build / "libgputap.so.0", f"-Wl,-rpath,{build}", "-lpthread"
    ], check=True)
    return path


@pytest.fixture
def record(tap, program):
    """Return a function: record(scene) runs a scene and returns the name of its capture."""
    def call(scene, *options, factor=1):
        tap("run", "-q", "-f", "-o", f"{scene}.gputap", *options, "--", program, scene, factor,
            timeout=60)
        return f"{scene}.gputap"
    return call


@pytest.fixture
def predict(tap):
    def call(path, *options):
        return json.loads(tap("what-if", path, "--json", *options).out)
    return call


def kernels(path, name):
    """Return the durations of a kernel in order of start."""
    rows = [r for r in python_tables.rows_of(gputap.open(path).activities) if r["name"] == name]
    return [r["duration_ns"] for r in sorted(rows, key=lambda r: r["start_ns"])]


def check(found, expected, whole, share=0.03):
    """Check a saved time. Only estimated delays, far shorter than kernels, may differ."""
    assert abs(found - expected) <= share * whole, (found, expected, whole)


@pytest.mark.parametrize("scene", SCENES)
def test_a_replay_without_a_change_takes_as_long_as_the_run(record, predict, scene):
    w = predict(record(scene))
    check(w["replayed_ns"], w["recorded_ns"], w["recorded_ns"], 0.02)
    assert w["predicted_ns"] == w["replayed_ns"]
    assert w["predicted_low_ns"] <= w["predicted_ns"] <= w["predicted_high_ns"]


@pytest.mark.parametrize("factor", [0.5, 2, 0])
@pytest.mark.parametrize("scene", ["synchronous", "queued", "graph", "blocking_copy"])
def test_a_kernel_for_which_all_wait_changes_the_run_by_its_time(record, predict, scene, factor):
    path = record(scene)
    w = predict(path, "--scale", "name=gemm", factor)
    saved = (1 - factor) * sum(kernels(path, "gemm"))
    # on a loaded machine, the host is sometimes late, and a part of a kernel delays nothing
    check(w["replayed_ns"] - w["predicted_ns"], saved, w["recorded_ns"], 0.1)
    assert w["predicted_low_ns"] <= w["predicted_ns"] <= w["predicted_high_ns"]
    (change, ) = w["changes"]
    assert change["activities"] == len(kernels(path, "gemm")) and not change["calls"]


def test_a_faster_kernel_does_not_help_if_the_device_waits_for_the_host(record, predict):
    path = record("host_bound")
    w = predict(path, "--scale", "name=gemm", "0.5")
    saved = w["replayed_ns"] - w["predicted_ns"]
    assert 0 <= saved <= max(kernels(path, "gemm")) + 0.02 * w["recorded_ns"]


def test_the_slower_of_two_streams_decides(record, predict):
    path = record("two_streams")
    w = predict(path, "--scale", "name=gemm", "0.5")
    saved = sum(max(g, r) - max(g / 2, r)
                for g, r in zip(kernels(path, "gemm"), kernels(path, "relu")))
    check(w["replayed_ns"] - w["predicted_ns"], saved, w["recorded_ns"], 0.05)


@pytest.mark.parametrize("scene", ["mixed", "events", "two_ahead", "threads"])
def test_a_faster_kernel_helps_until_another_thing_decides(record, predict, scene):
    path = record(scene)
    saved = {}
    for factor in (2, 0.5, 0.25, 0):
        w = predict(path, "--scale", "name=gemm", factor)
        saved[factor] = w["replayed_ns"] - w["predicted_ns"]
    slack = 0.02 * w["recorded_ns"]
    all_of_it = sum(kernels(path, "gemm"))
    assert saved[2] <= 0 + slack and -saved[2] <= all_of_it + slack
    assert 0 <= saved[0.5] <= 0.5 * all_of_it + slack
    assert saved[0.5] <= saved[0.25] + slack <= saved[0] + 2 * slack
    # the host thinks, or the other kernel runs, in the rest of the time
    assert saved[0] < all_of_it


def test_the_threads_of_a_program_end_it(record, predict):
    """The main thread waits for two threads, of which the one with gemm takes longer."""
    path = record("threads")
    w = predict(path, "--scale", "name=gemm", "2")
    check(w["predicted_ns"] - w["replayed_ns"], sum(kernels(path, "gemm")), w["recorded_ns"], 0.08)
    kinds = {r["kind"] for r in python_tables.rows_of(gputap.open(path).dependencies)}
    assert "thread" in kinds


def test_a_faster_kernel_shortens_the_wait_for_a_lock_held_until_its_end(record, predict):
    """The kernel's thread holds a lock for the kernel's time and 10 ms, and the main thread waits
    for the lock. The collector sees who holds it."""
    path = record("lock")
    w = predict(path, "--scale", "name=gemm", "0.5")
    saved = w["replayed_ns"] - w["predicted_ns"]
    check(saved, 0.5 * sum(kernels(path, "gemm")), w["recorded_ns"], 0.15)
    table = gputap.open(path).dependencies
    assert any(r["kind"] == "thread" and r["is_last"] for r in python_tables.rows_of(table))


def test_an_event_orders_two_streams_until_they_overlap(record, predict, tap):
    path = record("events")
    rows = python_tables.rows_of(gputap.open(path).dependencies)
    events = [r for r in rows if r["kind"] == "event"]
    assert {(r["earlier"], r["later"]) for r in events} >= {("gemm", "barrier")}
    for r in events:
        assert r["earlier_is_activity"] and r["later_is_activity"]
        assert r["earlier_end_ns"] <= r["later_end_ns"]
    slow = predict(path, "--scale", "name=gemm", "3")
    freed = predict(path, "--scale", "name=gemm", "3", "--overlap", "name=relu or kind=barrier")
    assert freed["predicted_ns"] <= slow["predicted_ns"]


def test_launches_and_waits_are_dependencies(record):
    path = record("synchronous")
    rows = python_tables.rows_of(gputap.open(path).dependencies)
    launches = [r for r in rows if r["kind"] == "launch"]
    waits = [r for r in rows if r["kind"] == "wait" and r["earlier"] == "gemm"]
    calls = {r["id"]: r for r in python_tables.rows_of(gputap.open(path).calls)}
    assert len(launches) == 30 and len(waits) >= 30
    for r in launches:
        assert (r["earlier"], r["later"]) == ("refdevLaunchKernel", "gemm")
        assert r["earlier_call"] == r["later_call"]
        assert calls[r["earlier_call"]]["start_ns"] == r["earlier_start_ns"]
    assert all(r["later"].endswith("Synchronize") for r in waits)
    synced = [r for r in waits if r["is_last"]]
    assert len(synced) >= 25  # a loaded machine may let the host come late
    host = [r for r in rows if r["kind"] == "host" and r["later"] == "refdevLaunchKernel"]
    # 2 ms outside any call are the length of the row
    assert sum(r["length_ns"] >= 1_900_000 for r in host) >= 28


def test_the_critical_path_adds_up_and_names_the_kernel(record, predict):
    w = predict(record("synchronous"), "--top", "0")
    path = {r["name"]: r["before_ns"] for r in w["critical_path"]}
    check(sum(path.values()), w["replayed_ns"], w["replayed_ns"], 0.01)
    assert max(path, key=path.get) == "gemm"
    assert path["host, outside any call"] >= 0.2 * w["recorded_ns"]


def test_the_removal_that_helps_most_comes_first(record, predict):
    path = record("two_streams")
    w = predict(path)
    assert w["removals"][0]["name"] in ("gemm", "refdevDeviceSynchronize")
    (gemm, ) = [r for r in w["removals"] if r["name"] == "gemm"]
    alone = predict(path, "--scale", "name=gemm", "0")
    assert gemm["length_ns"] == alone["predicted_ns"]
    lengths = [r["length_ns"] for r in w["removals"]]
    assert lengths == sorted(lengths)


def test_a_range_is_measured_on_request(record, predict, tap):
    path = record("synchronous")
    steps = [r["duration_ns"] for r in python_tables.rows_of(gputap.open(path).ranges)
             if r["name"] == "step"]
    w = predict(path, "--per", "st?p", "--scale", "name=gemm", "0.5", "--top", "0")
    mean = sum(steps) / len(steps)
    assert w["ranges"] == len(steps) == 30
    check(w["recorded_ns"], mean, mean, 0.001)
    check(w["replayed_ns"] - w["predicted_ns"], 0.5 * sum(kernels(path, "gemm")) / 30, mean)
    check(sum(r["before_ns"] for r in w["critical_path"]), mean, mean, 0.01)
    assert "the mean of 30 ranges 'step'" in tap("what-if", path, "--per", "step").out


@pytest.mark.parametrize("kind", sorted(mpi_jobs.KINDS))
def test_ranks_wait_for_each_other(tap, predict, repo, build, work, kind):
    """Rank 1 is the slow one. If its kernel is gone, the run becomes shorter only because the other
    ranks no longer wait for it."""
    library = mpi_jobs.library_of(kind)
    if not library:
        package = {"mpich": "mpich", "openmpi": "openmpi-bin"}[kind]
        pytest.skip(f"needs {mpi_jobs.KINDS[kind][0]}: apt install {package}")
    refdev = build / "soft/refdev/librefdev.so.1"
    subprocess.run([
        "cc", "-O1", "-D_GNU_SOURCE", *mpi_jobs.KINDS[kind][3], f"-I{repo}",
        repo / "tests/mpi/what_if_ranks.c", "-o", "ranks", library, refdev,
        f"-Wl,-rpath,{refdev.parent}", f"-Wl,-rpath,{os.path.dirname(library)}", "-ldl"
    ], check=True)
    tap("run", "-q", "-f", "-o", "ranks.gputap", "--", *mpi_jobs.launcher(kind, 3), work / "ranks",
        "1", timeout=120)
    capture = gputap.open("ranks.gputap")
    ranks = {r["process"]: r["rank"] for r in python_tables.rows_of(capture.processes)}
    calls = {r["id"]: ranks[r["process"]] for r in python_tables.rows_of(capture.calls)}
    joints = [r for r in python_tables.rows_of(capture.dependencies) if r["kind"] == "collective"]
    assert {r["later"] for r in joints} == {"MPI_Barrier"}
    assert all(calls[r["earlier_call"]] != calls[r["later_call"]] for r in joints)
    awaited = [calls[r["earlier_call"]] for r in joints if r["is_last"]]
    assert max(set(awaited), key=awaited.count) == 1
    w = predict("ranks.gputap", "--scale", "name=gemm", "0")
    saved = w["replayed_ns"] - w["predicted_ns"]
    assert 0.3 * sum(kernels("ranks.gputap", "gemm")) <= saved


def test_several_runs_give_a_spread(record, predict, tap):
    path = record("synchronous")
    tap("export", path, "-o", "same.gputap")
    one = predict(path, "--scale", "name=gemm", "0.5")
    w = json.loads(tap("what-if", path, "same.gputap", "--json", "--scale", "name=gemm", "0.5").out)
    assert one["spread"] is None and w["spread"] == 0  # the same run twice
    assert [r["predicted_ns"] for r in w["runs"]] == [one["predicted_ns"]] * 2
    assert w["predicted_high_ns"] <= one["predicted_high_ns"]


def test_calls_and_launches_can_be_scaled(record, predict):
    path = record("host_bound")
    gone = predict(path, "--scale", "name=refdevLaunchKernel", "0")
    cheap = predict(path, "--launch-cost", "0")
    assert gone["predicted_ns"] == cheap["predicted_ns"] <= gone["replayed_ns"]
    assert cheap["changes"][0]["calls"] == 30
    both = predict(path, "--scale", "name=gemm", "0.5", "--scale", "name=gemm", "2")
    assert both["predicted_ns"] == both["replayed_ns"]


def test_copies_can_be_scaled(record, predict):
    w = predict(record("blocking_copy"), "--bandwidth", "0.5")
    assert w["predicted_ns"] >= w["replayed_ns"]
    assert w["changes"][0]["activities"] == 30


def test_text_shows_the_prediction(record, tap):
    path = record("synchronous")
    out = tap("what-if", path, "--scale", "name=gemm", "0.5").out
    assert "Expected " in out and "shorter" in out and "Critical path" in out
    assert "30 GPU activities" in out and "name=gemm" in out
    assert max(map(len, out.splitlines())) <= 120
    plain = tap("what-if", path, "-n", "1").out
    assert "Expected" not in plain and "--top 0 shows all" in plain


@pytest.mark.parametrize("words,status,message", [
    (["--scale", "name=gem", "0.5"], 1, "--scale 'name=gem' matches no call and no GPU activity"),
    (["--scale", "name=gemm", "-1"], 2, "--scale needs a factor from 0 to 1,000,000, not '-1'"),
    (["--scale", "name=gemm", "nan"], 2, "--scale needs a factor from 0 to 1,000,000, not 'nan'"),
    (["--scale", "name=gemm", "inf"], 2, "--scale needs a factor from 0 to 1,000,000, not 'inf'"),
    (["--scale", "name=gemm", "half"], 2, "--scale needs a factor"),
    (["--scale", "name=gemm"], 2, "--scale needs an expression and a factor"),
    (["--scale", "nme=gemm", "1"], 2, "--scale: unknown field 'nme'; did you mean 'name'?"),
    (["--bandwidth", "0"], 2, "--bandwidth needs a factor above 0"),
    (["--bandwidth", "2"], 1, "contains no copies"),
    (["--overlap", "9"], 1, "--overlap 'queue=9' matches no GPU activity"),
    (["--overlap", "name=refdevStream*"], 1, "matches no GPU activity"),
    (["--per", "stop"], 1, "--per 'stop' matches no range in"),
    (["--top", "x"], 2, "--top needs a number of rows"),
    (["--scael", "name=gemm", "1"], 2, "did you mean --scale?"),
])
def test_bad_input_gets_a_sentence(record, tap, words, status, message):
    path = record("synchronous")
    result = tap("what-if", path, *words, status=status)
    assert message in " ".join(result.err.split()), result.err
    assert not result.out


def test_a_capture_without_calls_or_activities_is_named(record, tap):
    path = record("synchronous", "--mode", "standard")
    result = tap("what-if", path, status=1)
    assert "contains no calls" in " ".join(result.err.split())
    path = record("synchronous", factor=0)
    result = tap("what-if", path)
    assert "contains no GPU activities" in " ".join(result.err.split())
    assert tap("what-if", status=2).err.startswith("gputap what-if: which capture?")
    assert "empty" in tap("what-if", "", status=2).err
