# SPDX-License-Identifier: MIT
"""Test the notifications about a HIP program that a client of librocprofiler-sdk.so.1 receives with
one context per service: ids, times, order, retirement, copies and graphs
(tests/rocprofiler/lister.c, everything.hip)."""

import collections
import os
import re
import subprocess
import types

import pytest

THREADS, SIZES_IN, SIZE_OUT, KERNELS, NODES, LAUNCHES = 2, (32768, 65536, 1 << 20), 65536, 2, 5, 3
RECORD_SIZES = {
    "call": 64, "dispatch": 184, "copy": 96, "retired": 32, "told_dispatch": 152, "told_copy": 64,
    "object": 88, "symbol": 88, "host": 120
}
ENTER, EXIT = 1, 2


@pytest.fixture(scope="module")
def log(repo, build, hip_headers, softgpu, tmp_path_factory):
    """Return the client's notifications per kind. log.call is a list of records with their
    fields."""
    folder, sdk = tmp_path_factory.mktemp("everything"), build / "src/compat/rocprofiler"
    subprocess.run([
        "hipcc", "--offload-arch=gfx906", "-std=c++17", "-O1", "-Wall",
        repo / "tests/rocprofiler/everything.hip", "-o", folder / "everything"
    ],
                   check=True)
    subprocess.run([
        "cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-DGPUTAP_ROCPROFILER_OPAQUE",
        f"-I{repo}/include/compat", "-fPIC", "-shared", repo / "tests/rocprofiler/lister.c", "-o",
        folder / "lister.so", f"-L{sdk}", "-lrocprofiler-sdk", f"-Wl,-rpath-link,{build}",
        f"-Wl,-rpath,{sdk}"
    ],
                   check=True)
    subprocess.run(
        [folder / "everything"],
        check=True,
        timeout=600,
        env={
            **os.environ, **softgpu, "LD_PRELOAD": str(folder / "lister.so"), "LISTER_FILE": str(
                folder / "list"), "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}"
        })
    kinds = collections.defaultdict(list)
    for number, line in enumerate((folder / "list").read_text().splitlines()):
        kind, _, rest = line.partition(" ")
        fields = {k: int(v) if v.isdigit() else v for k, v in re.findall(r"(\w+)=(\S+)", rest)}
        kinds[kind].append(types.SimpleNamespace(line=number, **fields))
    assert not kinds["dropped"]
    return types.SimpleNamespace(**kinds)


@pytest.fixture(scope="module")
def calls(log):
    """Return {id: call}."""
    return {c.id: c for c in log.call}


def test_every_size_is_that_of_its_record(log):
    for kind, size in RECORD_SIZES.items():
        assert {r.size for r in getattr(log, kind)} == {size}, kind
    assert {r.size for r in log.told} <= {120, 208}  # sizes of HIP's and HSA's records


def test_ids_of_calls_are_their_own_and_without_gaps(log, calls):
    assert len(calls) == len(log.call)
    assert sorted(calls) == list(range(1, len(calls) + 1))
    assert collections.Counter((t.id, t.phase) for t in log.told) == collections.Counter(
        (i, p) for i in calls for p in (ENTER, EXIT))


def test_a_call_is_reported_before_it_begins_and_after_it_has_ended(log, calls):
    for t in log.told:
        c = calls[t.id]
        assert (t.operation, t.thread, t.ancestor) == (c.operation, c.thread, c.ancestor)
        assert t.time <= c.start < c.end if t.phase == ENTER else t.time >= c.end


def test_a_call_lies_within_its_ancestor_on_one_thread(calls):
    inner = [c for c in calls.values() if c.ancestor]
    assert inner
    for c in inner:
        outer = calls[c.ancestor]
        assert outer.thread == c.thread and outer.start <= c.start and c.end <= outer.end
        assert c.operation.startswith("hsa_")


def test_the_external_id_is_what_the_client_answered_everywhere(log):
    for r in (
        log.told + log.call + log.dispatch + log.copy + log.told_dispatch + log.told_copy
    ):
        assert r.external == r.thread > 0


def test_work_ends_later_than_it_begins_after_its_call_began_and_within_the_session(log, calls):
    for w in log.dispatch + log.copy:
        assert log.begins[0].time < calls[w.id].start < w.start < w.end < log.ends[0].time


def test_a_copy_has_the_id_of_a_call_of_hsas_whose_ancestor_is_hips_copy(log, calls):
    assert len({c.id for c in log.copy}) == len(log.copy)
    for c in log.copy:
        assert calls[c.id].operation.startswith("hsa_amd_memory_async_copy")
        assert calls[calls[c.id].ancestor].operation == "hipMemcpyAsync"


def test_copies_have_the_direction_the_bytes_and_the_agents_of_the_programs(log):
    for thread in {c.thread for c in log.copy}:
        mine = collections.defaultdict(list)
        # records are delivered when the end of the activity is detected
        for c in sorted(log.copy, key=lambda c: c.id):
            if c.thread == thread:
                mine[c.operation].append(c.bytes)
        assert mine == {
            "MEMORY_COPY_HOST_TO_DEVICE": list(SIZES_IN), "MEMORY_COPY_DEVICE_TO_HOST": [SIZE_OUT]
        }
    assert len({c.thread for c in log.copy}) == THREADS
    ways = {(c.operation, c.__dict__["from"], c.to) for c in log.copy}
    assert len(ways) == 2 and {w[1:] for w in ways} == {w[:0:-1] for w in ways}


def test_a_copys_times_are_reported_at_its_end(log):
    ends = {c.id: (c.start, c.end) for c in log.copy}
    assert len(log.told_copy) == 2 * len(log.copy)
    for t in log.told_copy:
        assert (t.start, t.end) == ((0, 0) if t.phase == ENTER else ends[t.id])


def test_a_dispatch_is_reported_three_times_and_numbered_without_gaps(log):
    count = THREADS * (KERNELS + NODES * LAUNCHES)
    assert sorted(d.dispatch for d in log.dispatch) == list(range(1, count + 1))
    steps = collections.defaultdict(list)
    for t in log.told_dispatch:
        steps[t.dispatch].append((t.operation, t.phase))
    assert sorted(steps) == list(range(1, count + 1))
    assert all(
        sorted(s) == [(1, ENTER), (1, EXIT), (2, 0)] and s.index((1, ENTER)) < s.index((1, EXIT))
        for s in steps.values())
    complete = {
        t.dispatch: (t.id, t.kernel, t.start, t.end) for t in log.told_dispatch if t.operation == 2
    }
    assert complete == {d.dispatch: (d.id, d.kernel, d.start, d.end) for d in log.dispatch}


def test_graphs_kernels_have_the_launch_for_their_ancestor(log, calls):
    def hips(c):
        return c if c.operation.startswith("hip") else hips(calls[c.ancestor])

    launched = collections.Counter(
        (hips(calls[d.id]).operation, hips(calls[d.id]).id) for d in log.dispatch)
    assert sorted(n for (name, _), n in launched.items()
                  if name == "hipGraphLaunch") == [NODES] * LAUNCHES * THREADS
    assert [n for (name, _), n in launched.items()
            if name == "hipLaunchKernel"] == [1] * KERNELS * THREADS


def test_a_kernels_name_is_known_before_it_is_dispatched_and_on_the_host(log):
    loaded = {s.kernel: s for s in log.symbol if s.phase == ENTER}
    assert 0 not in loaded and len(loaded) == sum(s.phase == ENTER for s in log.symbol)
    assert all(loaded[s.kernel].name == s.name for s in log.symbol if s.phase == EXIT)
    assert {loaded[d.kernel].name for d in log.dispatch} == {"_Z3addPii.kd", "_Z5twicePi.kd"}
    assert all(loaded[t.kernel].line < t.line for t in log.told_dispatch)
    assert {loaded[h.kernel].name: h.name
            for h in log.host} == {"_Z3addPii.kd": "_Z3addPii", "_Z5twicePi.kd": "_Z5twicePi"}


def test_a_context_that_asks_for_retirement_alone_is_notified_of_every_call_after_all_of_it(
        log, calls):
    retired = {r.id: r.time for r in log.retired}
    assert len(retired) == len(log.retired) and retired.keys() == calls.keys()
    for r in log.call + log.dispatch + log.copy:
        assert r.end < retired[r.id]


def test_counting_dispatches_can_be_configured_and_not_started_and_the_drivers_events_are_refused(
        log):
    assert [r.status for r in log.counting] == ["ROCPROFILER_STATUS_ERROR_NO_HARDWARE_COUNTERS"]
    assert [r.status for r in log.driver] == ["ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_KERNEL"]
    assert not hasattr(log, "counted")
