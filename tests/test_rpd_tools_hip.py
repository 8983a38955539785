# SPDX-License-Identifier: MIT
"""Test RPD's own tools on files of HIP programs with known activities. The results must agree with
tests/truth.py."""

import collections
import importlib
import sqlite3
import subprocess
import sys

import pytest

from conftest import run_command
from test_export_rpd import convert, python, upstream # a fixture  # noqa: F401
from truth import Capture, Truth, number

TYPES = {
    "kernel": "KernelExecution", "memset": "FillBuffer", "memcpy H2D": "CopyHostToDevice",
    "memcpy D2H": "CopyDeviceToHost", "memcpy D2D": "CopyDeviceToDevice"
}


class Traced:
    """A program's capture, exported as RPD and as CSV."""

    def __init__(self, capture, gputap, folder):
        run_command([gputap, "export", capture, "-o", folder / "t.rpd"])
        run_command([gputap, "export", capture, "-o", folder / "t.csv"])
        self.path, self.found = folder / "t.rpd", Capture(folder / "t.csv")

    def rows(self, query):
        with sqlite3.connect(self.path) as db:
            return db.execute(query).fetchall()

    def work(self):
        """Return the number of activities per (type, name, start, end, start of the call)."""
        return collections.Counter(
            (TYPES[row["operation"]], row["name"], row["start"], row["end"],
             self.found.call_of(row)["start"])
            for row in self.found.device)


@pytest.fixture(scope="module")
def recorded(hip_program, softgpu, gputap, tmp_path_factory):
    """Return a function: recorded(truth) returns a capture, which it records only once per
    truth."""
    made = {}

    def record(truth):
        key = str(truth.options)
        if key not in made:
            made[key] = tmp_path_factory.mktemp("rpd") / "t.gputap"
            run_command(
                [gputap, "run", "-q", "-o", made[key], "--", *truth.command(hip_program("truth"))],
                env=softgpu)
        return made[key]
    return record


@pytest.fixture
def traced(recorded, gputap, work):
    return lambda truth: Traced(recorded(truth), gputap, work)


MANY = Truth(threads=2, streams=3, launches=20, copies=2, graphs=3, nodes=6)
ONE_GRAPH = Truth(threads=1, streams=1, launches=4, graphs=5, nodes=7)


def test_rpd_has_the_work_of_the_program_linked_and_named(traced):
    rpd = traced(MANY)
    MANY.check(rpd.found)
    found = rpd.rows(
        "SELECT o.opType, o.description, o.start, o.end, a.start FROM op o JOIN rocpd_api_ops l ON"
        " l.op_id = o.id JOIN rocpd_api a ON a.id = l.api_id"
    )
    assert collections.Counter(found) == rpd.work()
    kinds = collections.Counter(row[0] for row in found)
    assert kinds["KernelExecution"] == MANY.launched.total() + MANY.replayed.total()


def test_rpd_copies_have_what_the_call_asked_for(traced):
    rpd = traced(MANY)
    asked = collections.Counter()
    for call in rpd.found.calls.values():
        if call["operation"].startswith("hipMemcpy"):
            args = dict(a.split("=", 1) for a in call["arguments"].split(", "))
            kind = {"HostToDevice": 1, "DeviceToHost": 2,
                    "DeviceToDevice": 3}[args["kind"].removeprefix("hipMemcpy")]
            asked[(call["operation"], args["dst"], args["src"], int(
                args["sizeBytes"]), kind, args.get("stream", "0x0"), "Async"
                   not in call["operation"])] += 1
    assert asked.total() == MANY.lanes * MANY.copies * 4 + 2  # plus two copies from check()
    assert collections.Counter(
        rpd.rows("SELECT apiName, dst, src, size, kind, stream, sync FROM copy")) == asked
    assert rpd.rows("SELECT count(*) FROM copyop") == [(asked.total(),)]
    assert set(rpd.rows("SELECT kind, dstDevice, srcDevice FROM copy")) == {(1, 0, -1), (2, -1, 0),
                                                                            (3, 0, 0)}


def test_rpd_has_copies_of_all_kinds_of_calls(hip_program, softgpu, gputap, work):
    """The rows come from calls with structs, calls with rows and columns, and calls whose direction
    only the device knows."""
    (work / "kinds.hip").write_text(r"""
#include <hip/hip_runtime.h>
#include <cstdlib>
#define MUST(call) do { if ((call) != hipSuccess) exit(1); } while (0)
int main()
{
	static char host[1 << 21];
	hipStream_t stream;
	hipGraph_t graph;
	char *a;

	MUST(hipMalloc(&a, sizeof host));
	MUST(hipMemcpy(a, host, sizeof host, hipMemcpyDefault)); // in several parts
	MUST(hipMemcpyDtoH(host, (hipDeviceptr_t)a, 96));
	MUST(hipMemcpy2D(a, 128, host, 64, 48, 5, hipMemcpyHostToDevice));
	MUST(hipStreamCreate(&stream));
	MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	MUST(hipMemcpyAsync(a + 512, a, 40, hipMemcpyDeviceToDevice, stream)); // never done
	MUST(hipStreamEndCapture(stream, &graph));
	return hipMemcpy(nullptr, host, 8, hipMemcpyHostToDevice) == hipSuccess;
}
""")
    subprocess.run(
        ["hipcc", "--offload-arch=gfx906", "-O1", "-w", work / "kinds.hip", "-o", work / "kinds"],
        check=True)
    run_command([gputap, "run", "-q", "-o", "t.gputap", work / "kinds"], env=softgpu)
    rpd = Traced(work / "t.gputap", gputap, work)
    rows = rpd.rows(
        "SELECT apiName, size, width, height, kind, sync, dstDevice, srcDevice FROM copy ORDER BY"
        " start"
    )
    assert rows == [("hipMemcpy", 1 << 21, 0, 0, 1, 1, 0, -1),
                    ("hipMemcpyDtoH", 96, 0, 0, 2, 1, -1, 0),
                    ("hipMemcpy2D", 240, 48, 5, 1, 1, 0, -1),
                    ("hipMemcpyAsync", 40, 0, 0, 3, 0, 0, 0), ("hipMemcpy", 8, 0, 0, 1, 1, 0, -1)]
    assert rpd.rows("SELECT dst FROM copy WHERE size = 8") == [("0x0",)]
    # the values that the program passed, not buffer addresses
    assert len(
        {row[0] for row in rpd.rows("SELECT dst FROM copy WHERE kind = 1 AND size > 8")}) == 1
    assert rpd.rows("PRAGMA integrity_check") == [("ok", )
                                                  ] and not rpd.rows("PRAGMA foreign_key_check")


@pytest.mark.parametrize("version", [2, 3])
def test_rpd2tracing_shows_all_work_and_its_links(traced, upstream, work, version): # noqa: F811
    rpd = traced(MANY)
    events = [e for e in convert(upstream, work, rpd, version) if e]
    shown = collections.Counter(
        (e["args"]["desc"], e["name"], e["ts"], e["dur"])
        for e in events
        if e["ph"] == "X" and e["args"].get("desc") in TYPES.values())
    assert shown == collections.Counter(
        {(kind, name or kind, str(start / 1000), str((end - start) / 1000)): count
         for (kind, name, start, end, _), count in rpd.work().items()})
    calls = collections.Counter(
        (e["name"], e["ts"])
        for e in events
        if e["ph"] == "X" and e["args"].get("desc") not in TYPES.values())
    assert calls == collections.Counter(
        (c["operation"], str(c["start"] / 1000)) for c in rpd.found.calls.values())
    begins, ends = ({e["id"]: e for e in events if e["ph"] == ph} for ph in "sf")
    assert len(begins) == len(ends) == len(rpd.found.device)
    pairs = collections.Counter((int(begins[i]["tid"]), ends[i]["ts"]) for i in begins)
    assert pairs == collections.Counter(
        (int(rpd.found.call_of(row)["tid"]), str(row["start"] / 1000)) for row in rpd.found.device)


def test_rpd2tracing_of_both_generations_say_the_same_of_hip(traced, upstream, work): # noqa: F811
    rpd = traced(MANY)
    assert convert(upstream, work, rpd, 2) == convert(upstream, work, rpd, 3)


def test_rpd_trim_keeps_the_calls_of_the_range_and_their_work(traced, upstream): # noqa: F811
    rpd = traced(MANY)
    calls = sorted(c["start"] for c in rpd.found.calls.values())
    first, last = calls[len(calls) // 4], calls[len(calls) // 2]
    python(upstream, upstream / "tools/rpd_trim.py", rpd.path, "--start", first, "--end", last)
    assert rpd.rows("SELECT count(*) FROM api") == [(sum(
        first <= start <= last for start in calls), )]
    kept = rpd.rows(
        "SELECT o.opType, o.description, o.start, o.end, a.start FROM op o JOIN rocpd_api_ops l ON"
        " l.op_id = o.id JOIN rocpd_api a ON a.id = l.api_id"
    )
    assert collections.Counter(kept) == collections.Counter(
        {k: n for k, n in rpd.work().items() if first <= k[4] <= last})
    assert kept and rpd.rows("PRAGMA integrity_check") == [("ok",)]


def test_rocpd_call_stacks_gives_each_call_its_gpu_time(traced, upstream): # noqa: F811
    rpd = traced(MANY)
    python(upstream, "-m", "rocpd.call_stacks", rpd.path)
    expected = collections.Counter()
    for row in rpd.found.device:
        expected[rpd.found.call_of(row)["start"]] += row["end"] - row["start"]
    found = dict(
        rpd.rows(
            "SELECT a.start, c.gpu_time FROM ext_callstack c JOIN rocpd_api a ON a.id = c.child_id"
            " WHERE c.depth = 0 AND gpu_time > 0"
        )
    )
    assert found == expected


def test_rocpd_graph_finds_each_node_and_each_replay(traced, upstream): # noqa: F811
    rpd = traced(ONE_GRAPH)
    python(upstream, "-m", "rocpd.graph", rpd.path)
    [(graph_exec,)] = rpd.rows("SELECT graphExec FROM ext_graph")
    nodes = rpd.rows(
        "SELECT sequence, kernelName, gridX, gridY, gridZ, workgroupX, workgroupY FROM graphKernel"
        " ORDER BY sequence"
    )
    assert [(row[0], row[1], number(row[2:5], row[5:])) for row in nodes] == \
        [(i + 1, "node", ONE_GRAPH.first_node + i) for i in range(ONE_GRAPH.nodes)]
    launches = rpd.rows("SELECT graphExec, apiName, gpuId FROM graphLaunch")
    assert launches == [(graph_exec, "hipGraphLaunch", 0)] * ONE_GRAPH.graphs


# noqa: F811
def test_rocpd_autograd_gives_operators_their_kernels(hip_program, softgpu, gputap, build, repo,
                                                      work, upstream):
    roctx = build / "src/compat/roctx"
    subprocess.run([
        "hipcc", "--offload-arch=gfx906", "-O1", "-w", f"-I{repo}/include",
        repo / "tests/rocm/operators.hip", "-o", "operators", f"-L{roctx}", "-l:libroctx64.so.4"
    ],
                   check=True)
    run_command([gputap, "run", "-q", "-o", "t.gputap", "./operators"],
                env={**softgpu, "LD_LIBRARY_PATH": f"{softgpu['LD_LIBRARY_PATH']}:{roctx}"})
    rpd = Traced(work / "t.gputap", gputap, work)
    python(upstream, "-m", "rocpd.autograd", rpd.path)
    assert rpd.rows(
        "SELECT autogradName, seq, op_id, sizes, input_op_ids FROM autograd ORDER BY start") == [
            ("aten::add", 1, 10, "[[64], []]", "((3,0), (4,0))"),
            ("aten::mul", "", 11, "[[64]]", "((10,0),)"), ("aten::sum", "", 12, "", "")
        ]
    assert sorted(rpd.rows("SELECT autogradName, kernelName, calls FROM autogradKernel")) == [
        ("aten::add", "grow(float*)", 3),
        ("aten::mul", "grow(float*)", 2),
        ("aten::sum", "grow(float*)", 1),
    ]
    spent = sum(row["end"] - row["start"] for row in rpd.found.device)
    assert rpd.rows("SELECT sum(total_gpu) FROM autogradKernel") == [(spent,)]


@pytest.mark.filterwarnings("ignore")
def test_raptor_counts_kernels_as_they_ran(traced, upstream, monkeypatch): # noqa: F811
    monkeypatch.syspath_prepend(str(upstream / "raptor"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    rpd = traced(MANY)
    parser = importlib.import_module("raptor_parser").RaptorParser(str(rpd.path), prekernel_seq=0)
    found = collections.Counter(parser.get_op_df()["Kernel"])
    assert (found["numbered"], found["node"]) == (MANY.launched.total(), MANY.replayed.total())
    table = parser.get_kernelseq_df()
    for name in ("numbered", "node"):
        row = table.loc[[key for key in table.index if key[0] == name]].iloc[0]
        assert row[("TotalCalls", "")] == found[name]
        assert row[("Duration_ns", "sum")] == sum(
            row["end"] - row["start"] for row in rpd.found.kernels(name))
    parser.con.close()
