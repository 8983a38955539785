# SPDX-License-Identifier: MIT
"""Test the export of a real traced OpenCL program: Perfetto's trace processor finds the recorded
data."""

import collections
import csv
import json
import subprocess

import pytest

from consumers import perfetto


@pytest.fixture(scope="module")
def traced(build, gputap, tmp_path_factory):
    folder = tmp_path_factory.mktemp("opencl")
    capture = folder / "demo.gputap"
    subprocess.run([gputap, "run", "-q", "-o", capture, "--", build / "examples/demo"],
                   check=True,
                   timeout=600,
                   stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE)
    files = {e: folder / f"demo.{e}" for e in ("pftrace", "json", "csv")}
    for path in files.values():
        subprocess.run([gputap, "export", capture, "-o", path], check=True, timeout=600)
    with open(files["csv"], newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    return files, rows


@pytest.fixture(scope="module")
def seen(traced):
    return perfetto.ask(
        traced[0]["pftrace"],
        slices=perfetto.SLICES,
        flows=perfetto.FLOWS,
        complaints=perfetto.COMPLAINTS,
        about="select a.key, a.display_value as value from slice s join args a using (arg_set_id)"
        " where s.name = 'capture' and s.category = 'gputap'")


def test_perfetto_finds_each_record_of_the_program_under_its_name(traced, seen):
    want = collections.Counter(r["name"] or r["operation"] for r in traced[1])
    have = collections.Counter(s["name"] for s in seen["slices"]
                               if s["category"] not in ("gputap", "idle"))
    assert have == want and have["heat_step"] == 1000
    assert seen["complaints"] == []


def test_all_work_of_the_program_is_linked_to_the_call_that_caused_it(traced, seen):
    by_id = {s["id"]: s for s in seen["slices"]}
    work = [s for s in seen["slices"] if s["category"] in ("kernel", "memcpy", "memset", "marker")]
    origin = {f["slice_in"]: by_id[f["slice_out"]] for f in seen["flows"]}
    assert work and all(origin[s["id"]]["correlation"] == s["correlation"] for s in work)
    assert {origin[s["id"]]["name"] for s in work if s["name"] == "heat_step"} == {
        "clEnqueueNDRangeKernel"
    }


def test_the_counts_of_the_capture_are_those_of_the_slices(traced, seen):
    about = {a["key"].removeprefix("debug."): a["value"] for a in seen["about"]}
    kinds = collections.Counter(r["kind"] for r in traced[1])
    assert about["complete"] == "yes"
    assert (about["calls recorded"], about["GPU activities recorded"]) == (str(
        kinds["call"]), str(kinds["device"]))
    assert (about["calls dropped"], about["GPU activities dropped"]) == ("0", "0")


def test_no_two_slices_of_a_track_row_overlap_and_children_lie_in_their_parents(seen):
    by_id = {s["id"]: s for s in seen["slices"]}
    tracks = collections.defaultdict(list)
    for s in seen["slices"]:
        if s["parent_id"] is not None:
            parent = by_id[s["parent_id"]]
            assert parent["ts"] <= s["ts"] and s["ts"] + s["dur"] <= parent["ts"] + parent["dur"]
        else:
            tracks[s["track_id"]].append((s["ts"], s["ts"] + s["dur"]))
    for slices in tracks.values():
        slices.sort()
        assert all(a[1] <= b[0] for a, b in zip(slices, slices[1:]))


def test_perfetto_reads_the_json_of_the_program_too(traced):
    have = perfetto.ask(traced[0]["json"],
                        n="select count(*) as n from slice",
                        complaints=perfetto.COMPLAINTS,
                        flows=perfetto.FLOWS)
    assert have["complaints"] == [] and have["n"][0]["n"] == len(traced[1])
    assert len(have["flows"]) == sum(r["kind"] == "device" for r in traced[1])


def test_a_kernel_of_sycl_has_the_name_of_its_type_in_all_exports(build, gputap, run, tap, work):
    name = "_ZTSZZ4mainENKUlRN4sycl3_V17handlerEE_clES2_E5MyAdd"
    want = "main::{lambda(sycl::_V1::handler&)#1}::operator()(sycl::_V1::handler&) const::MyAdd"
    run([gputap, "run", "-q", "-o", "sycl.gputap", "--", build / "tests/opencl/cl_named", name])
    for ending in ("csv", "json", "pftrace", "rpd"):
        tap("export", "sycl.gputap", "-o", f"sycl.{ending}")
        written = (work / f"sycl.{ending}").read_bytes()
        assert want.encode() in written and b"typeinfo" not in written, ending
    assert want in tap("report", "sycl.gputap", "--csv").out


def test_a_wait_for_events_is_split_by_the_work_of_their_calls(traced, tap):
    report = json.loads(tap("report", traced[0]["csv"].with_suffix(".gputap"), "--json").out)
    (wait, ) = [o for o in report["operations"] if o["name"] == "clWaitForEvents"]
    parts = [wait[p] for p in ("wait_ns", "transfer_ns", "runtime_ns", "unattributed_ns")]
    assert sum(parts) == wait["total_ns"] and wait["wait_ns"] > 0
    # Only waits for events that were already complete are unattributed.
    assert wait["unattributed_ns"] < wait["wait_ns"]
