# SPDX-License-Identifier: MIT
"""Test graphs of real HIP on software GPUs: each dispatch of each replay is assigned to the correct
node. In tests/hip/graphs.hip, node i is a kernel of i + 1 work-groups, so that the grid of a
dispatch identifies its node."""

import collections
import contextlib
import csv
import io
import json
import shutil
import sqlite3
import subprocess

import pytest

from conftest import run_command
from consumers import perfetto
from truth import check_held, read_capture


@pytest.fixture(scope="session")
def program(tmp_path_factory, repo, hip_headers):
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    path = tmp_path_factory.mktemp("graphs") / "graphs"
    subprocess.run(
        ["hipcc", "--offload-arch=gfx906", "-O1", "-w", "-o", path, repo / "tests/hip/graphs.hip"],
        check=True)
    return path


@pytest.fixture
def traced(program, softgpu, gputap, work):
    """Return a function that runs the program and returns the events in its Chrome JSON, and the
    output of `gputap info`."""
    def go(*arguments, options=(), status=0):
        run_command([
            gputap, "run", "-q", "-f", "-o", "a.gputap", *options, "--", program,
            *map(str, arguments)
        ],
                    env=softgpu,
                    status=status)
        run_command([gputap, "export", "-f", "-o", "a.json", "a.gputap"])
        info = json.loads(run_command([gputap, "info", "--json", "a.gputap"]).out)
        return json.loads((work / "a.json").read_text())["traceEvents"], info
    return go


def nodes(events):
    """Return the GPU activities of graphs."""
    return [
        e for e in events
        if e.get("ph") == "X" and "graph replay" in e.get("args", {}) and e["cat"] != "gpu_graph"
    ]


def launches(events):
    """Return the slices of whole graph launches, which gputap derives from their nodes."""
    return [e for e in events if e.get("cat") == "gpu_graph"]


def kernels(events):
    """Return the program's kernels in graphs, without the kernels that HIP uses for copies and
    fills."""
    return [e for e in nodes(events) if e["cat"] == "kernel" and "amd_rocclr" not in e["name"]]


NODES = {"chain": 20, "fork": 16, "capture": 6, "child": 10, "shuffle": 7, "leaves": 8}
KERNELS = {
    "chain": set(range(20)), "fork": {*range(1, 13), 14}, "capture": {0, 1, 2, 5},
    "child": {0, 2, 3, 4, 6, 7, 8, 9}, "shuffle": set(range(7)), "leaves": set(range(8))
}
# nodes in the second copy of a child graph: equal nodes in the first copy
CHILD = {6: 2, 7: 3, 8: 4}


@pytest.mark.parametrize("shape", NODES)
def test_every_kernel_of_every_replay_is_the_node_that_it_is(traced, shape):
    events, info = traced(shape, 5)
    seen = collections.defaultdict(set)
    for e in kernels(events):
        node, grid = e["args"]["graph node id"], e["args"]["grid"][0]
        truth = CHILD.get(node, node) if shape == "child" else node
        assert grid == truth + 1, f"node {node} was launched with {grid} groups"
        assert node not in seen[e["args"]["graph replay"]]
        seen[e["args"]["graph replay"]].add(node)
    assert dict(seen) == {replay: KERNELS[shape] for replay in range(1, 6)}
    assert info["dropped"] == 0 and info["linked"] == info["activities"]


@pytest.mark.parametrize(
    "settings",
    [{}, {"DEBUG_HIP_GRAPH_SEGMENT_SCHEDULING": "0"}, {"DEBUG_HIP_FORCE_GRAPH_QUEUES": "1"}])
@pytest.mark.parametrize("seed", [112, 213, 320, 440])
def test_nodes_of_any_graph_are_known(traced, softgpu, seed, settings):
    """Nodes are identified in every order in which the installed HIP may submit them. The settings
    change the order."""
    softgpu.update(settings)
    try:
        events, info = traced("random", 2, 1, seed)
    finally:
        for name in settings:
            del softgpu[name]
    seen = sorted((e["args"]["graph replay"], e["args"]["graph node id"]) for e in kernels(events))
    assert all(e["args"]["grid"][0] == e["args"]["graph node id"] + 1 for e in kernels(events))
    assert seen == [(replay, node) for replay in (1, 2) for node in range(seed % 100)]


def test_launches_of_threads_whose_streams_share_queues_keep_their_nodes(traced):
    # tests/test_rocm_* check the results of the program
    events, info = traced("fork", 6, 8, status=None)
    found = collections.Counter()
    for e in kernels(events):
        assert e["args"]["grid"][0] == e["args"]["graph node id"] + 1
        found[e["args"]["graph id"], e["args"]["graph replay"]] += 1
    assert len(found) == 48 and set(found.values()) == {13}
    assert info["dropped"] == 0 and info["linked"] == info["activities"]


def test_copies_and_fills_of_a_graph_are_nodes_too(traced):
    events, _ = traced("fork", 2)
    others = {(e["args"]["graph replay"], e["args"]["graph node id"]) for e in nodes(events)
              if e not in kernels(events)}
    assert others == {(r, n) for r in (1, 2) for n in (0, 13, 15)}


def test_all_work_of_a_launch_is_linked_to_that_launch(traced):
    events, _ = traced("shuffle", 4)
    calls = [
        e["args"]["correlation"]
        for e in events
        if e.get("name") == "hipGraphLaunch" and e.get("ph") == "X"
    ]
    of = collections.defaultdict(set)
    for e in kernels(events):
        of[e["args"]["graph replay"]].add(e["args"]["correlation"])
    assert [of[r] for r in range(1, 5)] == [{c} for c in calls]


@pytest.mark.parametrize("shape", NODES)
def test_lite_records_one_span_a_launch_from_its_first_node_to_its_last(traced, shape):
    events, info = traced(shape, 3, options=["--mode", "lite"])
    spans = nodes(events)
    assert [e["args"]["graph replay"] for e in sorted(spans, key=lambda e: e["ts"])] == [1, 2, 3]
    assert all(e["name"].startswith("graph ") for e in spans)
    assert [
        e for e in events
        if e.get("ph") == "X" and e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")
    ] == spans
    assert info["calls"] == 0 and info["dropped"] == 0 and info["complete"]


def test_spans_of_lite_begin_with_the_first_node_and_end_with_the_last(
        program, softgpu, gputap, tap, work):
    ran = run_command([
        gputap, "run", "-q", "-o", "a.gputap", "--mode", "lite", "--", program, "held", "3", "1",
        "400"
    ],
                      env=softgpu)
    check_held(ran.out,
               [row for row in read_capture(tap, "a.gputap").device if row["graph_replay"]])


def test_standard_has_nodes_without_a_call(traced):
    events, info = traced("chain", 2, options=["--mode", "standard"])
    assert {(e["args"]["graph replay"], e["args"]["graph node id"]) for e in kernels(events)} == \
        {(r, n) for r in (1, 2) for n in range(20)}
    assert info["calls"] == 0 and info["dropped"] == 0 and not info["linked_asked"]


def test_kernels_of_no_interest_do_not_shift_the_nodes_of_the_others(traced):
    events, info = traced("chain", 2, options=["--kernels", r"^other\(unsigned"])
    assert sorted(e["args"]["graph node id"] for e in kernels(events)) == [3, 3, 10, 10, 17, 17]
    assert all(e["args"]["grid"][0] == e["args"]["graph node id"] + 1
               for e in kernels(events)) and info["dropped"] == 0


def csv_rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_kernels_are_shown_demangled_unless_told_otherwise(program, softgpu, gputap, work):
    short = run_command([gputap, "run", "-f", "-o", "a.gputap", "--", program, "chain", "2"],
                        env=softgpu).err
    assert "count(unsigned int*, unsigned int)" in short and "_Z5count" not in short
    for options, name, not_name in (((), "count(unsigned int*, unsigned int)", "_Z5countPjj"),
                                    (("--mangled",), "_Z5countPjj", "count(unsigned")):
        for form in ((), ("--json",), ("--csv",)):
            text = run_command([gputap, "report", *form, *options, "-t", "kernels", "a.gputap"]).out
            assert name in text and not_name not in text
        for extension in ("json", "csv", "pftrace", "rpd", "rocpd"):
            run_command([gputap, "export", "-f", *options, "-o", f"a.{extension}", "a.gputap"])
            assert name.encode() in (work / f"a.{extension}").read_bytes(), extension
        # the options do not change arguments of calls, so only names of activities are checked
        shown = {r["name"] for r in csv_rows((work / "a.csv").read_text())}
        assert name in shown and not any(n.startswith(not_name) for n in shown)
        events = json.loads((work / "a.json").read_text())["traceEvents"]
        shown = {e["name"] for e in events if e.get("cat") == "kernel"}
        assert name in shown and not any(n.startswith(not_name) for n in shown)
        with contextlib.closing(sqlite3.connect(work / "a.rocpd")) as db:
            pairs = set(db.execute("SELECT kernel_name, display_name FROM kernel_symbols"))
        assert ("_Z5countPjj", name) in pairs or ("_Z5countPjj.kd", name) in pairs


def test_expressions_see_the_names_that_are_shown(program, softgpu, gputap, work):
    run_command([gputap, "run", "-q", "-f", "-o", "a.gputap", "--", program, "chain", "2"],
                env=softgpu)
    for options, pattern in (((), "other(unsigned*"), (("--mangled",), "_Z5otherPjj")):
        report = json.loads(
            run_command(
                [gputap, "report", "--json", *options, "-w", f"name='{pattern}'", "a.gputap"]).out)
        assert [k["count"] for k in report["kernels"]] == [6]


def test_triggers_see_the_names_that_are_shown(program, softgpu, gputap, work):
    trigger = "kind=kernel and name='other(unsigned*'"
    run_command([
        gputap, "run", "-q", "-o", "a.gputap", "--trigger", trigger, "--", program, "chain", "2"
    ],
                env=softgpu)
    kept = json.loads(run_command([gputap, "info", "--json", "a.1.gputap"]).out)["retained"]
    assert kept["what"].startswith("other(unsigned int*, unsigned int) took ")


def test_csv_rows_of_graphs_name_their_graph(program, softgpu, gputap, work):
    run_command([gputap, "run", "-q", "-f", "-o", "a.gputap", "--", program, "chain", "2"],
                env=softgpu)
    run_command([gputap, "export", "-f", "-o", "a.csv", "a.gputap"])
    rows = csv_rows((work / "a.csv").read_text())
    of = [r for r in rows if r["graph_replay"]]
    assert len(of) == 40 and len({r["graph"] for r in of}) == 1 and int(of[0]["graph"]) > 0
    assert all(not r["graph"] for r in rows if not r["graph_replay"])


@pytest.mark.parametrize("shape", NODES)
def test_report_says_how_often_a_graph_was_launched_and_what_it_has(traced, gputap, shape):
    events, _ = traced(shape, 5)
    whole = collections.defaultdict(list)
    for e in nodes(events):
        whole[e["args"]["graph replay"]] += [e["ts"], e["ts"] + e["dur"]]
    report = json.loads(run_command([gputap, "report", "--json", "-t", "graphs", "a.gputap"]).out)
    row, = report["graphs"]
    assert row["launches"] == 5 and row["recorded"] == "full"
    assert row["activities"] == len(nodes(events))
    assert row["kernels"] == len(KERNELS[shape])
    assert row["total_ns"] == pytest.approx(sum(max(t) - min(t) for t in whole.values()) * 1000,
                                            abs=20)
    assert 0 < row["busy_ns"] <= row["total_ns"] and row["busy_share"] == pytest.approx(
        row["busy_ns"] / row["total_ns"], rel=1e-4)
    text = run_command([gputap, "report", "-t", "graphs", "a.gputap"]).out
    assert "Graphs: launches" in text and "full" in text
    rows = csv_rows(run_command([gputap, "report", "--csv", "-t", "graphs", "a.gputap"]).out)
    assert rows[0]["launches"] == "5"


def test_report_of_lite_has_spans_and_no_busy_share(traced, gputap):
    traced("chain", 3, options=["--mode", "lite"])
    row, = json.loads(run_command([gputap, "report", "--json", "a.gputap"]).out)["graphs"]
    assert row["recorded"] == "span" and row["launches"] == 3 and row["total_ns"] > 0
    assert row.get("busy_share") is None and row["nodes"] == 20


# Launches as slices -----------------------------------------------------------------

def nearly(us):
    return pytest.approx(us, abs=0.0015)  # doubles with three decimals


@pytest.mark.parametrize("shape", NODES)
def test_chrome_json_has_a_slice_of_each_launch_around_its_nodes(traced, shape):
    events, _ = traced(shape, 4)
    of = collections.defaultdict(list)
    for e in nodes(events):
        of[e["args"]["graph replay"]].append(e)
    calls = [
        e["args"]["correlation"]
        for e in events
        if e.get("name") == "hipGraphLaunch" and e.get("ph") == "X"
    ]
    # HIP 5.7 can run branches of two launches at the same time
    slices = sorted(launches(events), key=lambda e: e["args"]["graph replay"])
    assert [s["name"] for s in slices] == [
        f"graph {s['args']['graph id']}, replay {r}" for s, r in zip(slices, range(1, 5))
    ]
    for s, call in zip(slices, calls, strict=True):
        a, inside = s["args"], of[s["args"]["graph replay"]]
        assert s["ts"] == min(e["ts"] for e in inside) and s["ts"] + s["dur"] == nearly(
            max(e["ts"] + e["dur"] for e in inside))
        assert a["graph recorded"] == len(
            inside) and a["graph nodes"] == NODES[shape] and a["graph launch"] == call
        assert {e["pid"]
                for e in inside} == {s["pid"]} and {e["args"]["correlation"]
                                                    for e in inside} == {call}
        # no reader may count the slice as device time or mistake it for a call
        assert "stream" not in a and "correlation" not in a


GRAPHS = """
select s.id, s.ts, s.dur, s.name, s.category, s.depth, s.parent_id, s.track_id, t.name as track,
       d.name as device, extract_arg(s.arg_set_id, 'debug.graph') as graph,
       extract_arg(s.arg_set_id, 'debug.graph_replay') as replay,
       extract_arg(s.arg_set_id, 'debug.graph_nodes') as nodes,
       extract_arg(s.arg_set_id, 'debug.graph_recorded') as recorded,
       extract_arg(s.arg_set_id, 'debug.correlation') as correlation
from slice s join track t on s.track_id = t.id left join track d on t.parent_id = d.id
where replay is not null order by s.ts"""


def in_perfetto(gputap, work):
    run_command([gputap, "export", "-f", "-o", "a.pftrace", "a.gputap"])
    answer = perfetto.ask(work / "a.pftrace", graphs=GRAPHS, complaints=perfetto.COMPLAINTS)
    assert answer["complaints"] == []
    return [r for r in answer["graphs"]
            if r["category"] == "graph"], [r for r in answer["graphs"] if r["category"] != "graph"]


def assert_encloses(slices, work):
    of = collections.defaultdict(list)
    for r in work:
        of[r["graph"], r["replay"]].append(r)
    assert len({(s["graph"], s["replay"]) for s in slices}) == len(slices) == len(of)
    for s in slices:
        inside = of[s["graph"], s["replay"]]
        assert s["ts"] == min(r["ts"]
                              for r in inside) and s["ts"] + s["dur"] == max(r["ts"] + r["dur"]
                                                                             for r in inside)
        assert s["name"] == f"graph {s['graph']}, replay {s['replay']}" and s["depth"] == 0 and s[
            "recorded"] == len(inside)
        assert {(r["correlation"], r["device"])
                for r in inside} == {(s["correlation"], s["device"])}
        first = {r["track"] for r in inside if r["ts"] == s["ts"]}
        assert s["track"] in {f"{track}: graphs" for track in first}


@pytest.mark.parametrize("shape", ["capture", "fork"])
def test_perfetto_has_a_slice_of_each_launch_around_its_nodes(traced, gputap, work, shape):
    traced(shape, 4)
    slices, rest = in_perfetto(gputap, work)
    assert [s["replay"] for s in slices] == [1, 2, 3, 4] and {s["nodes"]
                                                              for s in slices} == {NODES[shape]}
    assert_encloses(slices, rest)


def test_launches_that_overlap_have_rows_of_their_own(traced, gputap, work):
    # the threads' streams share queues; other tests check the results
    events, _ = traced("fork", 6, 8, status=None)
    slices, rest = in_perfetto(gputap, work)
    assert len(slices) == len(launches(events)) == 48
    assert_encloses(slices, rest)
    rows = collections.defaultdict(list)
    for s in slices:
        rows["perfetto", s["track_id"]].append((s["ts"], s["ts"] + s["dur"]))
    for e in launches(events):
        start = round(e["ts"] * 1000)
        rows["chrome", e["pid"], e["tid"]].append((start, start + round(e["dur"] * 1000)))
    for row in rows.values():
        row.sort()
        assert all(before[1] <= after[0] + 1 for before, after in zip(row, row[1:]))
    times = sorted((s["ts"], s["ts"] + s["dur"]) for s in slices)
    assert any(
        after[0] < before[1]
        for before, after in zip(times, times[1:])), "nothing overlapped: the test says nothing"


def test_launches_of_lite_look_the_same_and_come_once(traced, gputap, work):
    events, _ = traced("capture", 3, options=["--mode", "lite"])
    slices, spans = in_perfetto(gputap, work)
    assert launches(events) == [] and slices == []
    assert [(e["name"], e["replay"], e["nodes"], e["depth"]) for e in spans] == [
        (f"graph {e['graph']}, replay {r}", r, NODES["capture"], 0)
        for e, r in zip(spans, (1, 2, 3), strict=True)
    ]
    # readers sum kernels by name
    assert {e["name"]
            for e in nodes(events)} == {f"graph {spans[0]['graph']}"
                                        } and {e["args"]["graph nodes"]
                                               for e in nodes(events)} == {6}


def test_hta_reads_a_trace_with_launches_and_counts_only_their_nodes(traced, work):
    events, _ = traced("capture", 3)
    from test_export_hta import analysis
    hta = analysis(work / "a.json")
    trace = hta.t.get_trace(0)
    device = [
        e for e in events
        if e.get("ph") == "X" and e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")
    ]
    assert (trace["stream"] > 0).sum() == len(device) and len(launches(events)) == 3
    _, names = hta.get_gpu_kernel_breakdown(visualize=False)
    assert set(names["name"]) == {e["name"] for e in device}
    assert not any(name.startswith("graph ") for name in names["name"])
