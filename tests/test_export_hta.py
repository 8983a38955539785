# SPDX-License-Identifier: MIT
"""Test Holistic Trace Analysis (HTA) on exported Chrome JSON: its results agree with the
capture."""

import csv
import gzip
import json
import math
import subprocess
import warnings

import pytest

GPU_OPERATIONS = {"kernel", "memcpy D2H", "memcpy H2D", "memcpy D2D", "memset"}
COPY_NAMES = {"memcpy D2H": "Memcpy DtoH (Device -> Host)",
              "memcpy H2D": "Memcpy HtoD (Host -> Device)"}


@pytest.fixture(scope="module")
def files(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hta")
    capture = folder / "s.gputap"
    subprocess.run([
        build / "tests/synth/synth", "--calls", "4000", "--threads", "2", "--queues", "3",
        "--devices", "2", "--overlap", "--failed", "-o", capture
    ],
                   check=True,
                   timeout=600)
    out = {e: folder / f"s.{e}" for e in ("json.gz", "hta.json.gz", "csv")}
    for path in out.values():
        subprocess.run([build / "gputap", "export", capture, "-o", path],
                       check=True,
                       timeout=600,
                       stdout=subprocess.DEVNULL)
    return out


@pytest.fixture(scope="module")
def rows(files):
    with open(files["csv"], newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


@pytest.fixture(scope="module")
def rounded(files, rows):
    """Round start_ns and end_ns as HTA does: HTA rounds starts up and ends down to whole us, in
    floating point."""
    with gzip.open(files["json.gz"]) as f:
        events = json.load(f)["traceEvents"]
    first = min((e for e in events if e.get("cat") == "cuda_runtime"), key=lambda e: e["ts"])
    shift = round(first["ts"] * 1000) - min(int(r["start_ns"]) for r in rows if r["kind"] == "call")

    def microseconds(ns):
        return float(f"{ns // 1000}.{ns % 1000:03}")

    def convert(row):
        start, end = int(row["start_ns"]), int(row["end_ns"])
        ts = microseconds(start + shift)
        begin, finish = math.ceil(ts), math.floor(ts + microseconds(end - start))
        return begin, finish - begin
    return convert


def analysis(path):
    warnings.simplefilter("ignore")
    from hta.trace_analysis import TraceAnalysis
    return TraceAnalysis(trace_files={0: str(path)})


@pytest.fixture(scope="module")
def plain(files):
    return analysis(files["json.gz"])


@pytest.fixture(scope="module")
def named(files):
    return analysis(files["hta.json.gz"])


def gpu_name(row):
    return row["name"] or COPY_NAMES[row["operation"]]


def test_hta_sees_each_call_and_each_work_item(plain, rows):
    trace = plain.t.get_trace(0)
    assert (trace["stream"] > 0).sum() == sum(r["operation"] in GPU_OPERATIONS for r in rows)
    assert (trace["stream"] == -1).sum() == sum(r["kind"] == "call" for r in rows)


def test_hta_links_each_work_item_to_its_call(plain):
    trace = plain.t.get_trace(0)
    work = trace[trace["stream"] > 0]
    assert len(work) and (work["index_correlation"] > 0).all()
    calls = trace.loc[work["index_correlation"]]
    assert (calls["stream"] == -1).all()
    assert (calls["correlation"].values == work["correlation"].values).all()


def test_hta_kernel_breakdown_has_the_times_of_each_name(plain, rows, rounded):
    want = {}
    for r in rows:
        if r["operation"] in GPU_OPERATIONS:
            want[gpu_name(r)] = want.get(gpu_name(r), 0) + rounded(r)[1]
    _, names = plain.get_gpu_kernel_breakdown(visualize=False)
    assert dict(zip(names["name"], names["sum (us)"].astype(int))) == want


def test_hta_launch_statistics_have_each_launch_with_its_delay(named, rows, rounded):
    calls = {r["correlation"]: r for r in rows if r["kind"] == "call"}
    want = []
    for r in rows:
        if r["operation"] in GPU_OPERATIONS:
            call_begin, call_length = rounded(calls[r["correlation"]])
            begin, length = rounded(r)
            want.append((int(
                r["correlation"]), call_length, length, max(begin - call_begin - call_length, 0)))
    have = named.get_cuda_kernel_launch_stats(visualize=False)[0]
    columns = ["correlation", "cpu_duration", "gpu_duration", "launch_delay"]
    assert sorted(
        tuple(int(v) for v in row) for row in have[columns].itertuples(index=False)) == sorted(want)


def test_hta_knows_the_streams_apart(named):
    idle, _ = named.get_idle_time_breakdown(visualize=False)
    assert sorted(set(idle["stream"])) == [1, 2, 3]


def test_hta_measures_the_copies(named):
    summary = named.get_memory_bw_summary()
    assert {name for _, name in summary.index} == {"Memcpy DtoH", "Memcpy HtoD"}
