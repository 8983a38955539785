# SPDX-License-Identifier: MIT
"""Test parts of captures, `--where`: times, numbered ranges, ranks and hosts. The expected records
are computed from the CSV export."""

import csv
import io
import json
import re

import pytest

START = 1_000_000_000  # start of synth's session in ns


@pytest.fixture
def synth(run, build, work):
    def make(*options, out="a.gputap"):
        run([build / "tests/synth/synth", *options, "-o", out])
        return out
    return make


@pytest.fixture
def stepped(synth):
    """Write a capture of two processes with two threads each, in steps (recorded whole) and phases
    (pushed)."""
    return synth("--calls", "4000", "--threads", "2", "--processes", "2", "--steps", "500",
                 "--phases", "100", "--gap", "10000", "--nested")


@pytest.fixture
def records(tap, work):
    """Return a function: read() returns the rows of the CSV export for an expression. Column `at`
    is in nanoseconds since the start."""
    def read(capture, where=None):
        tap("export", "-f", capture, "-o", "a.csv", *(["-w", where] if where else []))
        rows = list(csv.DictReader(io.StringIO((work / "a.csv").read_text())))
        for row in rows:
            begin = row["start_ns"] or row["call_start_ns"]
            row["at"] = int(begin) - START
            row["range"] = row["operation"] == "range_user"
        return rows
    return read


def key(row):
    return (row["kind"], row["process"], row["correlation"], row["start_ns"], row["operation"],
            row["name"], row["depth"])


def steps_of(rows):
    """Return start and end of each step per process, in start order."""
    steps = {}
    for row in rows:
        if row["range"]:
            steps.setdefault(row["process"], []).append(
                (row["at"], row["at"] + int(row["duration_ns"]), row["thread"]))
    return {process: sorted(found) for process, found in steps.items()}


MS = 1_000_000


@pytest.mark.parametrize("expression, holds", [
    ("at>=5ms and at<6.5ms", lambda at: 5 * MS <= at < 6.5 * MS),
    ("at=5ms..6.5ms", lambda at: 5 * MS <= at < 6.5 * MS),
    ("at='5 ms..6.5 ms'", lambda at: 5 * MS <= at < 6.5 * MS),
    ("at=5..6.5ms", lambda at: 5 * MS <= at < 6.5 * MS),
    ("at!=5ms..6.5ms", lambda at: not 5 * MS <= at < 6.5 * MS),
    ("not at=0.005s..6500us", lambda at: not 5 * MS <= at < 6.5 * MS),
    ("at>20ms or at<=1ms", lambda at: at > 20 * MS or at <= MS),
    ("at>1min", lambda at: False),
    ("at<0.001h", lambda at: True),
])
def test_a_record_is_at_its_begin(stepped, records, expression, holds):
    wanted = sorted(key(r) for r in records(stepped) if holds(r["at"]))
    assert sorted(key(r) for r in records(stepped, expression)) == wanted


@pytest.mark.parametrize("expression, holds", [
    ("at>=step#3", lambda at, s: at >= s[2][0]),
    ("at<step#3", lambda at, s: at < s[2][0]),
    ("at>step#3", lambda at, s: at > s[2][1]),
    ("at<=step#3", lambda at, s: at <= s[2][1]),
    ("at=step#3", lambda at, s: s[2][0] <= at <= s[2][1]),
    ("at=st?p#3..5", lambda at, s: s[2][0] <= at <= max(e for _, e, _ in s[2:5])),
    ("at=step#3..step#5", lambda at, s: s[2][0] <= at <= s[4][1]),
    ("at>=step#3+2ms and at<step#5-1ms", lambda at, s: s[2][0] + 2 * MS <= at < s[4][0] - MS),
    ("at=step#3..step#4-1ms", lambda at, s: s[2][0] <= at <= s[3][1] - MS),
    ("at=1ms..step#4", lambda at, s: MS <= at <= s[3][1]),
    ("at>=step#999", lambda at, s: False),
])
def test_a_range_says_a_time_of_its_process(stepped, records, expression, holds):
    rows = records(stepped)
    steps = steps_of(rows)
    assert {len(s) for s in steps.values()} == {16}
    wanted = sorted(key(r) for r in rows if holds(r["at"], steps[r["process"]]))
    assert sorted(key(r) for r in records(stepped, expression)) == wanted


@pytest.mark.parametrize("expression, numbers", [
    ("range=step#3", {3}), ("range=step#2..4", {2, 3, 4}), ("range=s*p#16", {16}),
    ("range=step#17", set())])
def test_ranges_are_counted_in_each_process_in_order_of_their_begin(
        stepped, records, expression, numbers):
    """Ranges are counted over all threads of a process together. A record is in a range if its
    correlation id lies between the id of this range and the id of the next range on the same
    thread."""
    rows = records(stepped)
    steps = {}
    for row in rows:
        if row["range"]:
            steps.setdefault(row["process"], []).append(
                (row["at"], row["thread"], int(row["correlation"]), row))
    spans = {p: [s for n, s in enumerate(sorted(found, key=lambda s: s[:3]), 1) if n in numbers]
             for p, found in steps.items()}
    everything = {p: sorted(s[2] for s in found) for p, found in steps.items()}

    def inside(row):
        number = int(row["correlation"])
        for _, _, first, _ in spans[row["process"]]:
            later = [n for n in everything[row["process"]] if n > first and n >> 32 == first >> 32]
            if number >> 32 == first >> 32 and first <= number < min(later + [1 << 63]):
                return True
        return False

    wanted = sorted(key(r) for r in rows if inside(r))
    assert bool(wanted) == (numbers != {17} and bool(numbers))
    assert sorted(key(r) for r in records(stepped, expression)) == wanted


def test_pushed_ranges_are_counted_too(tap, stepped):
    ranges = json.loads(tap("report", stepped, "--json", "-t", "ranges", "-w",
                            "name=phase and range=phase#2..4").out)["ranges"]
    assert [(r["name"], r["count"]) for r in ranges] == [("phase", 6)]  # phases of both processes


def test_a_name_with_a_number_sign_is_a_name(tap, stepped):
    for name in ("f()::{lambda()#1}::g", "step#x", "#3"):
        result = tap("report", stepped, "--json", "-t", "loss", "-w", f"range={name}")
        assert json.loads(result.out)["matched"] == 0


def test_ranks_and_hosts_are_told_apart(tap, synth, work):
    files = [synth("--calls", "100", "--rank", str(rank), "--pid", str(5000 + rank), "--host",
                   f"node{rank // 2}", "--boot", f"boot{rank // 2}", out=f"r{rank}.gputap")
             for rank in range(4)]
    plain = synth("--calls", "100", "--pid", "9000", "--host", "elsewhere", "--boot", "b",
                  out="plain.gputap")

    def processes(where):
        report = json.loads(tap("report", *files, plain, "--json", "-t", "processes", "-w",
                                where).out)
        return sorted(p["pid"] for p in report["processes"] if p["calls"])

    assert processes("rank=2") == [5002]
    assert processes("rank=1..2") == [5001, 5002]
    assert processes("rank>=2") == [5002, 5003]
    assert processes("rank!=1..2") == [5000, 5003]  # `!=` does not match processes without a rank
    assert processes("not rank=1..2") == [5000, 5003, 9000]
    assert processes("host=node1") == [5002, 5003]
    assert processes("host=node* and rank<=2") == [5000, 5001, 5002]
    assert processes("host!~^node") == [9000]


def test_work_whose_call_lies_before_the_slice_has_no_arrow_to_it(tap, stepped, work, records):
    rows = records(stepped)
    call = next(r for r in rows if r["operation"] == "clEnqueueNDRangeKernel" and r["at"] > 5 * MS)
    kernel = next(r for r in rows if r["kind"] == "device" and r["process"] == call["process"]
                  and r["correlation"] == call["correlation"])
    assert kernel["at"] > call["at"] + 1
    # from 1 ns after the start of the call to 1 ns after the start of the kernel
    where = f"at={call['at'] + 1}ns..{kernel['at'] + 1}ns and process={call['pid']}"
    taken = records(stepped, where)
    assert key(kernel) in map(key, taken) and key(call) not in map(key, taken)
    tap("export", "-f", stepped, "-o", "a.json", "-w", where)
    events = json.loads((work / "a.json").read_text())["traceEvents"]
    begun = {e["id"] for e in events if e["ph"] == "s"}
    ended = {e["id"] for e in events if e["ph"] == "f"}
    assert ended - begun  # the kernel's arrow ends in the slice, but starts outside it
    calls = [r["correlation"] for r in taken if r["kind"] == "call"]
    assert len(begun) <= len(calls)


@pytest.mark.parametrize("expression, place, text", [
    ("at=step#x", "x", "# must be followed by a number"),
    ("failed or at>=step#3+q", "+q", "# must be followed by a number"),
    ("at=step#3..2", None, "the end is before the start"),
    ("at>5q", "5q",
     "expected a time with a unit, such as 5s or 1.5ms, or relative to a range: step#3"),
    ("at>5", "5", "expected a time with a unit"),
    ("at=5..6", "5..6", "expected a time with a unit"),
    ("duration>=10", "10", "expected a time with a unit, such as 10us"),
    ("at>=step#3+10", "+10", "# must be followed by a number"),
    ("at<5s..6s", "..", "an interval (a..b) needs = or !="),
    ("at~5s", "~5s", "'at' takes = != < <= > or >="),
    ("range=step#0", "0", "# must be followed by a number: step#3, step#3..5"),
    ("at=5..4s", "4s", "the end is not after the start"),
    ("rank=5..4", "4", "the end is before the start"),
    ("range=step#", None, "# must be followed by a number"),
    ("rank=first", "first", "expected a rank, such as 3 or 0..7"),
    ("hots=x", "hots", "unknown field 'hots'; did you mean 'host'?"),
])
def test_a_wrong_slice_is_reported_with_a_caret(tap, stepped, expression, place, text):
    lines = tap("report", "--all", stepped, "--where", expression, status=2).err.splitlines()
    assert text in lines[0]
    if place:
        assert lines[2].index("^") == lines[1].index(place)


def test_a_range_that_is_not_there_is_named(tap, stepped):
    assert ("--where 'range=step#99' matches no record: no process has more than 16 ranges "
            "named 'step'") in " ".join(
                tap("report", stepped, "--where", "range=step#99").err.split())
    assert "there is no range 'stop'" in tap("report", "--all", stepped, "-w", "at>=stop#1").err


SHAPES = ["", "--nested --external", "--steps 700", "--phases 300 --nested",
          "--device-clock timer --compress", "--device-clock slow --layered",
          "--device-clock offset --overlap", "--waits --lose 5 --crash", "--dense",
          "--graphs --late", "--cut"]


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_left_unread_is_not_in_the_slice(run, build, synth, shape):
    """For random time ranges, a cursor that skips blocks returns the same records as a cursor that
    reads all blocks: everything that overlaps the range."""
    capture = synth("--calls", "12000", "--threads", "2", "--processes", "2", "--devices", "2",
                    "--flush-bytes", "150000", "--gap", "3000", *shape.split())
    for seed in (1, 2):
        lines = run([build / "tests/synth/scopes", capture, seed, 20]).out.splitlines()
        assert len(lines) == 20


def test_a_slice_in_time_reads_little_of_the_capture(run, build, synth, work):
    capture = synth("--calls", "60000", "--gap", "20000")
    lines = run([build / "tests/synth/scopes", capture, 3, 40]).out.splitlines()
    read = sorted(int(line.split()[2]) for line in lines)
    assert read[len(read) // 2] < (work / capture).stat().st_size / 2


@pytest.mark.parametrize("shape", ["--steps 400 --nested --waits", "--phases 300", "--failed"])
@pytest.mark.parametrize("expression", ["at=1.5s..1.7s", "at>=2s and kind=kernel",
                                        "at<1.2s or at=2.2..2.25s"])
def test_a_report_of_a_slice_is_that_of_all_records_with_the_same_expression(
        tap, synth, shape, expression):
    """The expression is given in two forms: one limits which blocks are read, and the other is
    extended so that all are read. The results would differ if an activity had been queued after
    another from more than a second before, but the capture has no such activity."""
    capture = synth("--calls", "24000", "--threads", "2", "--gap", "100000", *shape.split())

    def tables(where):
        report = json.loads(tap("report", capture, "--json", "-w", where).out)
        whole = ("where", "calls", "activities", "range_records", "linked", "call_lost")
        return {k: v for k, v in report.items() if k not in whole}

    sliced = tables(expression)
    assert sliced["matched"]
    assert sliced == tables(f"({expression}) or bytes<0")


@pytest.mark.parametrize("expression, wanted", [
    ("rank=2", {2}), ("not rank=0..2", {3}), ("host=node1", {2, 3}),
    ("process=5001 and duration>1us", {1}), ("rank=0 or (rank=3 and name=clFinish)", {0, 3}),
    ("rank!=0..2 and at<1h", {3}), ("name=clFinish or rank=1", {0, 1, 2, 3}), ("rank=9", set()),
])
def test_processes_that_an_expression_rules_out_are_not_read(
        tap, synth, work, records, expression, wanted):
    """The head shows the number of records read. The tables equal those of an expression that
    excludes no process."""
    files = [synth("--calls", "500", "--rank", str(rank), "--pid", str(5000 + rank), "--host",
                   f"node{rank // 2}", "--boot", f"boot{rank // 2}", "--devices", "1", out=
                   f"r{rank}.gputap") for rank in range(4)]
    # devices of a host are combined, so all records that share a device are read
    read = wanted | {rank ^ 1 for rank in wanted}
    whole = json.loads(tap("report", *files, "--json", "-w", f"({expression}) or bytes<0").out)
    calls = [json.loads(tap("report", file, "--json", "-t", "loss").out)["calls"] for file in files]
    report = json.loads(tap("report", *files, "--json", "-w", expression).out)
    assert report["calls"] == sum(calls[rank] for rank in read)
    for key in ("operations", "kernels", "copies", "devices", "matched"):
        assert report[key] == whole[key]
    if len(wanted) < 4 and wanted:
        said = " ".join(tap("report", *files, "-w", expression).out.split())
        assert re.search(" in the selected (time and )?processes", said)
