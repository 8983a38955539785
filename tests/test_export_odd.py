# SPDX-License-Identifier: MIT
"""Test real readers on a capture with every kind of unusual record
(tests/consumers/odd_capture.c)."""

import collections
import csv
import gzip
import json
import os
import re
import subprocess

import pytest

from consumers import perfetto

NAMES = {
    1: "saxpy",
    2: "void \"quoted\"<'a', \"b\\\\c\">(int*)",
    3: "back\\slash \\n \\u0041",
    4: "tab\tnew\nline\r\x01\x1b[31m",
    5: "été € 😀",
    6: "bad \ufffd\ufffd( \ufffd\ufffd\ufffd end \ufffd\ufffd",
    7: "comma, semicolon; </script>",
    8: "n" * 5000,
}


@pytest.fixture(scope="module")
def odd(build, tmp_path_factory):
    """Return the exported files and the records that they contain."""
    folder = tmp_path_factory.mktemp("odd")
    files = {e: folder / f"odd.{e}" for e in ("pftrace", "json", "json.gz", "csv")}
    done = subprocess.run([build / "tests/consumers/odd_capture", *files.values()],
                          check=True,
                          text=True,
                          stdout=subprocess.PIPE,
                          timeout=600)
    items = json.loads(done.stdout)
    threads = {}
    for item in items:  # correlation: index of the thread << 32, plus id
        threads.setdefault((item["process"], item["thread"]), None)
    order = [(0, 0), (0, 1), (1, 2), (2, 3)]
    for item in items:
        base = order.index((item["process"], item["thread"])) << 32 if item["id"] else 0
        item["correlation"] = base + item["id"] if item["id"] else None
        item["parent"] = base + item["parent"] if item["parent"] else None
    return collections.namedtuple("Odd", "files calls work")(
        files, [i for i in items if i["kind"] == "call"], [i for i in items if i["kind"] == "work"])


@pytest.fixture(scope="module")
def seen(odd):
    """Return the results of Perfetto's trace processor for the protobuf file."""
    return perfetto.ask(
        odd.files["pftrace"],
        slices=perfetto.SLICES,
        flows=perfetto.FLOWS,
        complaints=perfetto.COMPLAINTS,
        args=(
            "select s.id, a.key, a.display_value as value from slice s join args a using"
            " (arg_set_id)"
        ),
        processes=(
            "select pid, p.name, extract_arg(t.source_arg_set_id, 'description') as command from"
            " process p left join process_track t using (upid) where pid > 0"
        ),
        threads="select tid, name from thread where tid > 0",
        tracks=(
            "select t.id, t.name, p.name as parent from track t left join track p on t.parent_id ="
            " p.id"
        ),
        clocks=(
            "select clock_name, clock_value, ts from clock_snapshot where clock_name = 'REALTIME'"
        ),
    )


def calls_of(seen):
    return [s for s in seen["slices"] if s["category"] == "opencl"]


def work_of(seen):
    return [s for s in seen["slices"] if s["category"] in ("kernel", "memcpy", "memset", "marker")]


def arguments(seen, slice_id):
    return {
        a["key"].removeprefix("debug."): a["value"] for a in seen["args"] if a["id"] == slice_id
    }


# Perfetto --------------------------------------------------------------------------

def test_perfetto_reads_without_complaints(seen):
    assert seen["complaints"] == []


def test_perfetto_has_each_call_with_its_times(odd, seen):
    want = sorted(
        (c["what"], c["start"], c["end"] - c["start"], c["correlation"]) for c in odd.calls)
    assert sorted((s["name"], s["ts"], s["dur"], s["correlation"]) for s in calls_of(seen)) == want


def test_perfetto_nests_calls_as_they_were_nested(odd, seen):
    by_id = {s["id"]: s for s in seen["slices"]}
    parents = {
        s["correlation"]: by_id[s["parent_id"]]["correlation"]
        if s["parent_id"] is not None else None for s in calls_of(seen)
    }
    assert parents == {c["correlation"]: c["parent"] for c in odd.calls}


def test_perfetto_has_each_work_item_with_its_times(odd, seen):
    want = sorted(
        (w["correlation"] or 0, w["start"], w["end"] - w["start"]) for w in odd.work if w["start"])
    have = sorted((s["correlation"] or 0, s["ts"], s["dur"])
                  for s in work_of(seen)
                  if "times" not in arguments(seen, s["id"]))
    assert have == want


def test_perfetto_shows_work_without_times_as_an_instant(seen):
    unknown = [s for s in work_of(seen) if arguments(seen, s["id"]).get("times") == "unknown"]
    assert [(s["name"], s["dur"], s["ts"]) for s in unknown] == [("memset", 0, 2_102_000)]
    assert arguments(seen, unknown[0]["id"])["error"] == "CL_OUT_OF_RESOURCES (-5)"


def test_perfetto_has_names_as_they_were(seen):
    names = {s["name"] for s in work_of(seen) if s["category"] == "kernel"}
    assert names == {n[:512] for n in NAMES.values()}


def test_perfetto_track_rows_hold_no_two_slices_that_overlap(seen):
    lanes = collections.defaultdict(list)
    for s in work_of(seen):
        if "times" not in arguments(seen, s["id"]):
            lanes[s["track_id"]].append((s["ts"], s["ts"] + s["dur"]))
            assert s["depth"] == 0
    for slices in lanes.values():
        slices.sort()
        assert all(a[1] <= b[0] for a, b in zip(slices, slices[1:]))


def test_perfetto_gives_extra_rows_only_to_queues_whose_work_overlaps(seen):
    tracks = collections.Counter(
        t["name"] for t in seen["tracks"] if t["parent"] == "device 0: a device")
    assert tracks == {
        "idle": 1,
        "queue 1 (pid 1000)": 1,
        "queue 2 (pid 1000)": 3,
        "queue 1 (pid 1100)": 1
    }


def test_perfetto_flow_leads_from_the_call_to_each_work_item(odd, seen):
    """Perfetto chains flows: the flow of a call with three activities leads from the call to the
    first activity, then to the second and the third."""
    incoming = {f["slice_in"]: f["slice_out"] for f in seen["flows"]}
    by_id = {s["id"]: s for s in seen["slices"]}
    linked = [s for s in work_of(seen) if s["correlation"]]
    assert len(linked) == sum(1 for w in odd.work if w["correlation"])
    for s in linked:
        origin = by_id[incoming[s["id"]]]
        assert origin["correlation"] == s["correlation"]
        while origin["id"] in incoming:
            origin = by_id[incoming[origin["id"]]]
        assert origin["category"] == "opencl"


def test_perfetto_arguments_have_their_types_and_names(seen):
    build = next(s for s in calls_of(seen) if s["name"] == "clEnqueueNDRangeKernel")
    have = arguments(seen, build["id"])
    assert have["command_queue"] == "0x55d0c8" and have["kernel"] == "0x1234" and have[
        "work_dim"] == "1"
    kernel = next(s for s in work_of(seen) if s["name"] == "saxpy")
    have = arguments(seen, kernel["id"])
    assert {
        k: have[k] for k in ("global_size", "local_size", "launch_latency_ns",
                             "queued_to_submitted_ns", "submitted_to_start_ns", "device", "queue")
    } == {
        "global_size": "1000 x 2", "local_size": "64", "launch_latency_ns": "200",
        "queued_to_submitted_ns": "100", "submitted_to_start_ns": "50", "device": "0", "queue": "1"
    }


def test_perfetto_shows_errors_and_what_calls_returned(seen):
    errors = {s["name"]: arguments(seen, s["id"]).get("error") for s in calls_of(seen)}
    assert {n for n, e in errors.items() if e} == {"clFlush"}
    assert errors["clFlush"] == "CL_INVALID_COMMAND_QUEUE (-36)"
    create = next(s for s in calls_of(seen) if s["name"] == "clCreateBuffer")
    assert arguments(seen, create["id"])["return"] == "0xabc0"


def test_perfetto_names_processes_and_threads(seen):
    assert sorted((p["pid"], p["name"], p["command"]) for p in seen["processes"]) == [
        (1000, "prog", "./bin/prog -x"), (1100, "exec'd", "./bin/prog -x")]
    assert {(t["tid"], t["name"]) for t in seen["threads"]} >= {(1000, "prog"),
                                                                (1001, 'a "worker"'),
                                                                (1100, "exec'd")}


def test_perfetto_knows_the_time_of_day(seen):
    assert [(c["ts"], c["clock_value"])
            for c in seen["clocks"]] == [(1_000_000, "1763679937000000000")]


def test_perfetto_shows_what_was_lost(odd, seen):
    about = next(s for s in seen["slices"] if s["name"] == "capture")
    have = arguments(seen, about["id"])
    assert have["calls dropped"] == "17" and int(have["calls recorded"]) == len(odd.calls)
    assert int(have["calls seen"]) == len(odd.calls) + 17
    assert int(have["GPU activities seen"]) == len(odd.work)
    loss = next(s for s in seen["slices"] if s["category"] == "gputap" and s["name"] != "capture")
    assert arguments(seen, loss["id"])["value"] == "17"


# Chrome JSON -------------------------------------------------------------------------

@pytest.fixture(scope="module")
def chrome(odd):
    def refuse(constant):
        raise ValueError(constant)

    return json.loads(odd.files["json"].read_bytes().decode("utf-8", "strict"),
                      parse_constant=refuse)


def test_chrome_gzip_holds_the_same_bytes(odd):
    assert gzip.decompress(odd.files["json.gz"].read_bytes()) == odd.files["json"].read_bytes()


def test_chrome_has_names_as_they_were(chrome):
    names = {e["name"] for e in chrome["traceEvents"] if e.get("cat") == "kernel"}
    assert names == {n[:4096] for n in NAMES.values()}


def test_chrome_has_each_record_once(odd, chrome):
    base = min(e["ts"] for e in chrome["traceEvents"] if e.get("cat") == "cuda_runtime")
    first = min(c["start"] for c in odd.calls)
    events = [e for e in chrome["traceEvents"] if e["ph"] == "X"]
    def row(e):
        return (e["args"].get("correlation") or 0, round(
            (e["ts"] - base) * 1000) + first, round(e["dur"] * 1000))
    assert sorted(row(e) for e in events if e["cat"] == "cuda_runtime") == sorted(
        (c["correlation"], c["start"], c["end"] - c["start"]) for c in odd.calls)
    assert sorted(row(e) for e in events if e["cat"] != "cuda_runtime") == sorted(
        (w["correlation"] or 0, w["start"], w["end"] - w["start"]) for w in odd.work if w["start"])


def test_chrome_flow_ends_lie_on_their_events(chrome):
    """TraceLens requires id == correlation at both ends of a flow, and each end needs the pid, tid
    and ts of its event."""
    places = collections.defaultdict(set)
    for e in chrome["traceEvents"]:
        if e["ph"] in "Xi" and "correlation" in e.get("args", {}):
            places[e["args"]["correlation"]].add((e["pid"], e["tid"], e["ts"]))
    flows = [e for e in chrome["traceEvents"] if e.get("cat") == "ac2g"]
    assert all((f["pid"], f["tid"], f["ts"]) in places[f["id"]] for f in flows)
    ends = [f for f in flows if f["ph"] == "f"]
    starts = {f["id"] for f in flows if f["ph"] == "s"}
    assert ends and all(f["bp"] == "e" and f["id"] in starts for f in ends)


def test_chrome_streams_count_from_one_and_track_rows_keep_them(chrome):
    work = [
        e for e in chrome["traceEvents"]
        if e["ph"] == "X" and e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")
    ]
    assert {e["args"]["stream"] for e in work} == {1, 2, 3}
    assert all(e["tid"] % 100000 == e["args"]["stream"] for e in work)
    assert {e["tid"] for e in work if e["tid"] >= 100000} == {100002, 200002}


def test_chrome_has_the_rank_where_it_is_looked_for(odd):
    head = odd.files["json"].read_text().split('"traceEvents"')[0]
    assert re.search(r'"rank":\s+(\d+)', head).group(1) == "3"


def test_chrome_in_perfetto_has_each_record(odd):
    have = perfetto.ask(odd.files["json"],
                        slices=perfetto.SLICES,
                        flows=perfetto.FLOWS,
                        complaints=perfetto.COMPLAINTS)
    assert have["complaints"] == []
    assert len([s for s in have["slices"] if s["category"] == "cuda_runtime"]) == len(odd.calls)
    assert len(
        [s for s in have["slices"] if s["category"] not in ("cuda_runtime", "gputap")]) == len(
            odd.work)
    assert len(have["flows"]) == sum(1 for w in odd.work if w["correlation"])


@pytest.mark.parametrize("extension", ["json", "csv"])
def test_odd_exports_are_the_golden_ones(odd, repo, extension):
    """Compare byte for byte. GPUTAP_GOLDEN=write rewrites the golden files after an intended
    change."""
    golden = repo / "tests/golden" / f"odd.{extension}"
    if os.environ.get("GPUTAP_GOLDEN") == "write":
        golden.write_bytes(odd.files[extension].read_bytes())
    assert odd.files[extension].read_bytes() == golden.read_bytes()


# CSV ---------------------------------------------------------------------------------------

def test_csv_rows_are_the_records(odd):
    with open(odd.files["csv"], newline="", encoding="utf-8", errors="strict") as f:
        rows = list(csv.DictReader(f))
    assert all(None not in r and None not in r.values() for r in rows), "every row has every column"
    calls = [r for r in rows if r["kind"] == "call"]
    assert [
        (r["operation"], int(r["start_ns"]), int(r["end_ns"]), int(r["correlation"])) for r in calls
    ] == [(c["what"], c["start"], c["end"], c["correlation"]) for c in odd.calls]
    work = [r for r in rows if r["kind"] == "device"]
    assert [(r["operation"], r["start_ns"], r["correlation"]) for r in work] == [
        (w["what"], str(w["start"] or ""), str(w["correlation"] or "")) for w in odd.work]
    assert {r["name"] for r in work} - {""} == {
        re.sub("[\r\x01\x1b]", "\ufffd", n[:4096]) for n in NAMES.values()
    }
