# SPDX-License-Identifier: MIT
"""Test stacks of ranges, calls and kernels that `gputap export` writes as folded stacks and for
speedscope."""

import collections
import csv
import json
import os
import pathlib
import subprocess

import pytest

from consumers import speedscope


@pytest.fixture(scope="module")
def worker(tmp_path_factory, repo, build):
    path = tmp_path_factory.mktemp("stacks") / "worker"
    subprocess.run([
        "cc", "-O1", "-Wall", "-Wno-deprecated-declarations", f"-I{repo}/include",
        repo / "tests/ranges/activity.c", "-o", path, f"-L{build}", "-l:libgputap.so.0",
        f"-Wl,-rpath,{build}", "-lOpenCL"
    ], check=True)
    return path


@pytest.fixture(scope="module")
def traced(gputap, worker, tmp_path_factory):
    """Return a capture of tests/ranges/activity.c, and the rows of its CSV export."""
    folder = tmp_path_factory.mktemp("traced")
    capture = folder / "a.gputap"
    for words in (["run", "-q", "-o", capture, "--", worker],
                  ["export", capture, "-o", folder / "a.csv"]):
        subprocess.run([gputap, *words], check=True, timeout=600)
    with open(folder / "a.csv", newline="", encoding="utf-8") as file:
        return capture, list(csv.DictReader(file))


@pytest.fixture
def synth(run, build, work):
    """Return a function: synth(...) writes a capture and returns its name."""
    def make(*words, name="s.gputap"):
        run([build / "tests/synth/synth", *words, "-o", name])
        return name
    return make


def folded(tap, capture, *words, name="t.folded"):
    """Export @capture as folded stacks and return {(frame, ...): ns}."""
    tap("export", "-f", capture, "-o", name, *words)
    stacks = {}
    for line in pathlib.Path(name).read_text().splitlines():
        stack, ns = line.rsplit(" ", 1)
        assert tuple(stack.split(";")) not in stacks, "a stack comes once"
        stacks[tuple(stack.split(";"))] = int(ns)
    return stacks


def ways(rows):
    """Return {id of a call: names of its ranges and calls} from the CSV rows of a single-threaded
    program."""
    calls = {int(r["correlation"]): r for r in rows if r["kind"] == "call"}
    ranges = [(number, int(r["return"], 16) & 0xffffffff, r["arguments"].split('"')[1])
              for number, r in calls.items() if r["domain"] == "ranges"]
    return {
        number: tuple(name for first, last, name in sorted(ranges) if first <= number <= last) +
        (r["operation"], )
        for number, r in calls.items() if r["domain"] != "ranges"
    }


def test_device_time_goes_to_the_kernel_below_its_call_below_its_ranges(tap, traced, work):
    capture, rows = traced
    way = ways(rows)
    want, count = collections.Counter(), collections.Counter()
    for r in rows:
        if r["kind"] == "device":
            stack = ("worker", *way[int(r["correlation"])], r["name"] or r["operation"])
            want[stack] += int(r["duration_ns"])
            count[stack] += 1
    assert folded(tap, capture) == want
    fill = ("clEnqueueFillBuffer", "memset")
    assert count == {("worker", *fill): 2,
                     ("worker", "step", *fill): 2,
                     ("worker", "step", "outer", *fill): 3,
                     ("worker", "step", "outer", "inner", *fill): 12,
                     ("worker", "step", "outer", "inner", "inner", *fill): 3}


def test_host_time_is_what_neither_calls_nor_ranges_inside_took(tap, traced, work):
    capture, rows = traced
    way = ways(rows)
    stacks = folded(tap, capture, "--weight", "host")
    want = collections.Counter()
    for number, names in way.items():
        want["worker", *names] += int(next(
            r["duration_ns"] for r in rows
            if r["kind"] == "call" and int(r["correlation"]) == number))
    calls = {stack: ns for stack, ns in stacks.items() if stack[-1].startswith("cl")}
    assert calls == {stack: ns for stack, ns in want.items() if ns}
    # stacks below a range add up to the duration of the range
    for name in ("step", "outer", "idle"):
        took = sum(int(r["duration_ns"]) for r in rows if f'"{name}"' in r["arguments"])
        assert sum(ns for stack, ns in stacks.items() if name in stack) == took
    assert stacks[("worker", "step", "outer", "idle")] > 0


def test_ranges_that_cross_are_above_what_was_begun_in_them(tap, repo, build, work):
    """tests/ranges/across.c starts three kinds of ranges: its own thread stops the first, another
    thread stops the second, and no thread stops the third."""
    roctx = build / "src/compat/roctx"
    subprocess.run([
        "cc", "-O1", "-Wall", f"-I{repo}/include", repo / "tests/ranges/across.c", "-o", "across",
        f"-L{roctx}", "-l:libroctx64.so.4", f"-Wl,-rpath,{roctx}", "-lOpenCL", "-lpthread"
    ], check=True)
    tap("run", "-q", "-o", "a.gputap", "--", work / "across")
    tap("export", "a.gputap", "-o", "a.csv")
    with open("a.csv", newline="", encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if r["operation"] == "memset"]
    rows.sort(key=lambda r: int(r["correlation"]))
    fills = [int(r["duration_ns"]) for r in rows]
    parts, want = [2, 1, 4, 8, 16], []
    for part in parts:
        want.append(sum(fills[:part]))
        del fills[:part]
    fill = ("clEnqueueFillBuffer", "memset")
    assert folded(tap, "a.gputap") == {("across", "own", *fill): want[0],
                                       ("across", "own", "others", *fill): want[1],
                                       ("across", "others", *fill): want[2],
                                       ("across", *fill): want[3],
                                       ("across", "never stopped", *fill): want[4]}
    host = folded(tap, "a.gputap", "--weight", "host")
    assert not any(stack[-1] in ("own", "others", "never stopped") for stack in host)


def test_a_call_inside_a_call_is_a_frame_below_it(tap, synth):
    stacks = folded(tap, synth("--calls", "2000", "--waits", "--layered"), "--weight", "host")
    name = next(iter(stacks))[0]
    inner = stacks[(name, "urQueueFinish", "clFinish")]
    tap("export", "s.gputap", "-o", "s.csv")
    with open("s.csv", newline="", encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if r["kind"] == "call"]
    took = {o: sum(int(r["duration_ns"]) for r in rows if r["operation"] == o)
            for o in ("urQueueFinish", "clFinish")}
    assert inner == took["clFinish"]
    assert stacks[(name, "urQueueFinish")] == took["urQueueFinish"] - took["clFinish"]


def test_work_whose_call_was_not_recorded_is_below_its_process(tap, worker, work):
    tap("run", "-q", "-o", "a.gputap", "--mode", "standard", "--", worker)
    assert list(folded(tap, "a.gputap")) == [("worker", "memset")]


def test_without_device_time_the_usual_weight_is_the_hosts(tap, worker, work):
    tap("run", "-q", "-o", "a.gputap", "--no-device", "--", worker)
    assert folded(tap, "a.gputap") == folded(tap, "a.gputap", "--weight", "host") != {}
    assert folded(tap, "a.gputap", "--weight", "device") == {}
    tap("export", "a.gputap", "-o", "a.speedscope.json")
    assert [p["name"] for p in json.loads(pathlib.Path("a.speedscope.json").read_text())
            ["profiles"]] == ["host time"]


def test_under_a_filter_what_is_around_stays_as_frames(tap, traced, work):
    everything = folded(tap, traced[0])
    assert folded(tap, traced[0], "--where", "kind=memset and range=inner") == {
        stack: ns for stack, ns in everything.items() if "inner" in stack}
    host = folded(tap, traced[0], "--weight", "host", "--where", "name=clEnqueueFillBuffer")
    every = folded(tap, traced[0], "--weight", "host")
    assert host == {stack: ns for stack, ns in every.items()
                    if stack[-1] == "clEnqueueFillBuffer"}


def test_frames_hold_nothing_that_parts_frames_or_lines(tap, synth):
    stacks = folded(tap, synth("--calls", "500", "--names", "tricky"))
    assert all(len(stack) == 3 for stack in stacks)
    sums = list(csv.DictReader(tap("report", "s.gputap", "-t", "kernels", "--csv",
                                   "--by", "name").out.splitlines()))
    kernels = [ns for stack, ns in stacks.items() if stack[1] == "clEnqueueNDRangeKernel"]
    assert sorted(kernels) == sorted(int(r["total_ns"]) for r in sums)


def test_speedscope_gets_both_times_with_the_same_stacks(tap, traced, work):
    tap("export", traced[0], "-o", "a.speedscope.json")
    file = json.loads(pathlib.Path("a.speedscope.json").read_text())
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = [f["name"] for f in file["shared"]["frames"]]
    assert len(frames) == len(set(frames))
    for profile, weight in zip(file["profiles"], ("device", "host"), strict=True):
        assert profile["name"] == f"{weight} time" and profile["unit"] == "nanoseconds"
        assert profile["startValue"] == 0 and profile["endValue"] == sum(profile["weights"])
        stacks = {tuple(frames[i] for i in sample): ns
                  for sample, ns in zip(profile["samples"], profile["weights"], strict=True)}
        assert stacks == folded(tap, traced[0], "--weight", weight)
    tap("export", traced[0], "-o", "h.speedscope.json", "--weight", "host")
    file = json.loads(pathlib.Path("h.speedscope.json").read_text())
    assert [p["name"] for p in file["profiles"]] == ["host time"]


@pytest.mark.parametrize("name, words, sentence", [
    ("t.csv", ["--weight", "host"],
     "--weight applies to stacks (folded, speedscope); csv contains all times"),
    ("t.folded", ["--weight", "hots"], "did you mean 'host'"),
])
def test_a_weight_that_means_nothing_is_refused(tap, traced, work, name, words, sentence):
    assert sentence in tap("export", traced[0], "-o", name, *words, status=2).err
    assert not (work / name).exists()


def test_a_merged_capture_has_a_frame_for_each_rank(tap, synth):
    for rank in "01":
        synth("--calls", "100", "--rank", rank, "--pid", f"70{rank}0", name=f"{rank}.gputap")
    tap("merge", "0.gputap", "1.gputap", "-o", "job.gputap")
    roots = {stack[0] for stack in folded(tap, "job.gputap")}
    assert len(roots) == 2 and all(any(f"rank {r}" in root for root in roots) for r in "01")


def test_flamegraph_pl_draws_each_frame_with_its_time(tap, run, traced, work):
    script = pathlib.Path(os.environ.get("GPUTAP_FLAMEGRAPH_CHECKOUT", ""), "flamegraph.pl")
    if not os.environ.get("GPUTAP_FLAMEGRAPH_CHECKOUT") or not script.exists():
        pytest.skip("GPUTAP_FLAMEGRAPH_CHECKOUT does not name a checkout of FlameGraph")
    stacks = folded(tap, traced[0])
    drawn = run(["perl", script, "--countname", "ns", "--minwidth", "0", "t.folded"])
    assert "Ignored" not in drawn.err
    total = sum(stacks.values())
    assert f"<title>all ({total:,} ns, 100%)" in drawn.out
    step = sum(ns for stack, ns in stacks.items() if "step" in stack)
    assert f"<title>step ({step:,} ns, " in drawn.out
    assert drawn.out.count("<title>inner (") == 2


@pytest.mark.parametrize("name", ["a.speedscope.json", "a.folded"])
def test_speedscope_shows_each_frame_with_its_time(tap, traced, work, name):
    if not speedscope.page():
        pytest.skip("GPUTAP_SPEEDSCOPE does not name npm's package speedscope, unpacked")
    stacks = folded(tap, traced[0])
    tap("export", traced[0], "-o", name)
    shown = speedscope.ask(name)
    assert ("device time" if "json" in name else "a.folded") in shown["text"]
    total = sum(stacks.values())
    rows = {row[2]: row[:2] for row in shown["rows"] if len(row) == 3 and "%" in row[0]}
    assert {frame for stack in stacks for frame in stack} <= set(rows)
    share = 100 * sum(ns for s, ns in stacks.items() if "inner" in s) / total
    assert f"({share:.0f}%)" in rows["inner"][0] or f"({share:.1f}%)" in rows["inner"][0]
    assert rows["worker"][0].endswith("(100%)") and rows["memset"][1].endswith("(100%)")
