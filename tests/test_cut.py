# SPDX-License-Identifier: MIT
"""Test `gputap export -o OUT.gputap`, which writes a smaller capture of the records that match
--where, or a faithful copy if there is no --where. Commands report the same for such a cut as for
the whole capture with the same expression."""

import csv
import io
import json

import pytest

SHAPES = [
    "--steps 400 --nested --waits", "--phases 300 --nested --external", "--failed --compress",
    "--graphs --late", "--device-clock timer --layered", "--threads 3 --distinct 20",
]
TIMES = ["at=100ms..200ms", "at>=350ms and at<400ms", "at<50ms or at=300..310ms", "at>=0ms"]
RECORDS = ["kind=kernel", "duration>20us", "name=clFinish", "kind=kernel and at=100ms..200ms"]


@pytest.fixture
def synth(run, build, work):
    def make(*options, out="a.gputap"):
        run([build / "tests/synth/synth", *options, "-o", out])
        return out
    return make


@pytest.fixture
def capture(synth):
    def make(shape, *options):
        return synth("--calls", "20000", "--threads", "2", "--gap", "10000", "--flush-bytes",
                     "100000", *shape.split(), *options)
    return make


@pytest.fixture
def cut(tap):
    def make(source, where, out="cut.gputap"):
        files = [source] if isinstance(source, str) else source
        return " ".join(tap("export", "-f", *files, "-o", out, "-w", where).err.split())
    return make


def report_of(tap, path, *options):
    report = json.loads(tap("report", path, "--json", *options).out)
    # fields that describe the file or the request
    for key in ("files", "where", "matched", "linked", "call_lost"):
        report.pop(key, None)
    for row in report["processes"]:
        row.pop("capture", None)
        row.pop("file", None)
    return report


def rows_of(tap, work, path, *options):
    tap("export", "-f", path, "-o", "a.csv", *options)
    return sorted(tuple(row.items()) for row in
                  csv.DictReader(io.StringIO((work / "a.csv").read_text())))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("where", TIMES)
def test_a_cut_in_time_is_reported_as_the_whole_is_with_the_same_times(
        tap, capture, cut, shape, where):
    source = capture(shape)
    cut(source, where)
    whole = report_of(tap, source, "-w", where)
    found = report_of(tap, "cut.gputap")
    again = report_of(tap, "cut.gputap", "-w", where)  # matches the whole cut
    if "--late" in shape:  # a wait is not split if its queue later had activities without times
        for row in [r for report in (whole, found, again)
                    for r in [report, *report["operations"], *report["threads"]]]:
            for key in ("wait_ns", "transfer_ns", "runtime_ns", "unattributed_ns", "wait"):
                row.pop(key, None)
    assert whole["calls"] and whole["activities"]
    assert found == whole
    assert again == whole


@pytest.mark.parametrize("begin_us", [9169, 9190, 9210, 9230, 9250, 12000])
def test_the_gap_in_which_a_cut_begins_is_told_as_of_the_whole(tap, synth, cut, begin_us):
    """A gap belongs to the activity that ends the gap. Here the gap starts at an activity outside
    the time range."""
    where = f"at={begin_us}us..{begin_us + 200}us"
    cut(synth("--calls", "2000", "--threads", "3", "--processes", "2", "--devices", "2"), where)
    whole, found = report_of(tap, "a.gputap", "-w", where), report_of(tap, "cut.gputap")
    # the call before the gap may be outside the time range
    for report in whole, found:
        for row in report["idle"] + report["gaps"]:
            for key in ("after_call", "after_line", "before_call", "before_line", "between_ns"):
                row.pop(key, None)
    assert whole["idle"] and found["idle"] == whole["idle"]
    assert found == whole


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("where", TIMES + RECORDS + ["range=step*", "range=phase#2..4"])
def test_an_export_of_a_cut_has_the_records_of_the_whole(tap, work, capture, cut, shape, where):
    source = capture(shape)
    if where.startswith("range") and where[6:11] not in shape:
        return
    cut(source, where)
    found = rows_of(tap, work, "cut.gputap")
    assert found and found == rows_of(tap, work, source, "-w", where)


@pytest.mark.parametrize("where", RECORDS)
def test_what_is_not_known_of_a_cut_is_not_said(tap, capture, cut, where):
    """Without the surrounding activities and calls, causes of idle time and wait targets are
    unknown."""
    source = capture("--waits")
    cut(source, where)
    whole = json.loads(tap("report", source, "--json", "-w", where).out)
    report = json.loads(tap("report", "cut.gputap", "--json").out)
    for key in ("kernels", "copies", "devices"):
        def plain(rows):
            return [{k: v for k, v in row.items() if isinstance(v, (str, int))} for row in rows]
        if key in whole:
            assert len(plain(report[key])) == len(plain(whole[key]))
    assert not report.get("idle")
    assert "are unknown" in " ".join(tap("report", "--all", "cut.gputap").out.split())


def test_a_cut_says_what_it_is_and_how_much_it_has(tap, capture, cut):
    source = capture("--nested")
    total = json.loads(tap("info", source, "--json").out)["recorded"]
    said = cut(source, "at=100ms..200ms")
    assert f"of {total:,} records, and" in said and "cut.gputap contains " in said
    info = json.loads(tap("info", "cut.gputap", "--json").out)
    assert info["complete"] and info["retained"]["part"]
    assert info["retained"]["what"] == "at=100ms..200ms"
    assert info["evicted"] == total - info["recorded"] > 0
    assert info["seen"] == info["recorded"] + info["evicted"]
    for command in ("info", "report"):
        assert ("a part: --where 'at=100ms..200ms'; "
                f"{info['evicted']:,} other records were left out"
                ) in " ".join(tap(command, "cut.gputap").out.split())


def test_a_cut_is_small_and_linked(tap, work, capture, cut):
    source = capture("")
    cut(source, "at=100ms..120ms")
    info = json.loads(tap("info", "cut.gputap", "--json").out)
    assert info["linked"] and info["call_lost"] == 0
    assert (work / "cut.gputap").stat().st_size < (work / source).stat().st_size / 3


def test_a_cut_of_a_cut_is_a_cut(tap, work, capture, cut):
    source = capture("--nested --external")
    cut(source, "at=100ms..300ms")
    cut("cut.gputap", "at=150ms..200ms", "again.gputap")
    assert (rows_of(tap, work, "again.gputap") ==
            rows_of(tap, work, source, "-w", "at=150ms..200ms"))


def test_several_sessions_are_cut_into_one_file(tap, work, synth, cut):
    files = [synth("--calls", "4000", "--gap", "10000", "--rank", str(rank), "--pid",
                   str(5000 + rank), out=f"r{rank}.gputap") for rank in range(3)]
    tap("merge", *files, "-o", "job.gputap")
    for source in (files, ["job.gputap"]):
        cut(source, "rank=1 and at<50ms")
        rows = rows_of(tap, work, "cut.gputap")
        assert rows == rows_of(tap, work, "r1.gputap", "-w", "at<50ms") or \
            {dict(r)["pid"] for r in rows} == {"5001"}
        assert len(rows) == len(rows_of(tap, work, "r1.gputap", "-w", "at<50ms"))
        assert len(json.loads(tap("info", "cut.gputap", "--json").out)["processes"]) == 3


def test_without_where_the_copy_is_the_capture(tap, work, capture, synth):
    source = capture("--nested")
    tap("export", source, "-o", "b.gputap")
    assert (work / "b.gputap").read_bytes() == (work / source).read_bytes()
    assert "exists: -f replaces it" in tap("export", source, "-o", "b.gputap", status=1).err
    other = synth("--calls", "100", "--pid", "9000", out="c.gputap")
    tap("export", source, other, "-o", "d", "--format", "gputap")
    tap("merge", source, other, "-o", "e.gputap")
    assert rows_of(tap, work, "d") == rows_of(tap, work, "e.gputap")


def test_nothing_that_holds_is_a_capture_without_records(tap, capture, cut):
    source = capture("")
    assert "matches no record" in cut(source, "at>1h")
    info = json.loads(tap("info", "cut.gputap", "--json").out)
    assert info["complete"] and info["calls"] == info["activities"] == 0


def test_a_wrong_expression_or_option_is_refused(tap, capture):
    source = capture("")
    assert "expected a time" in tap("export", source, "-o", "b.gputap", "-w", "at>5q", status=2).err
    assert "--weight applies to stacks" in tap("export", source, "-o", "b.gputap", "--weight",
                                               "host", status=2).err


def test_parts_of_one_recording_that_overlap_are_said(tap, capture, cut):
    """The cuts are different captures, so they are not recognised as copies, and records in both
    cuts count twice."""
    source = capture("")
    cut(source, "at=100ms..200ms", "b.gputap")
    cut(source, "at=150ms..250ms", "c.gputap")
    cut(source, "at>=400ms", "d.gputap")

    def said(*files):
        return " ".join(tap("report", *files, "-t", "loss").err.split())

    assert "and c.gputap come from one recording and overlap" in said("b.gputap", "c.gputap")
    assert "from one recording" in said(source, "d.gputap")
    assert "from one recording" not in said("b.gputap", "d.gputap")


def test_a_cut_claims_no_time_that_a_flight_recorder_threw_away(run, tap, cut, build, work):
    """A flight recorder's capture can contain an activity without its call and without other
    activities of that time."""
    tap("run", "-q", "--keep", "200ms", "-o", "last.gputap", build / "examples/steps", "150")
    cut("last.gputap", "at>=0s")
    whole, part = (json.loads(tap("info", "--json", path).out)["retained"]
                   for path in ("last.gputap", "cut.gputap"))
    assert whole["thinned"] and part["part"]
    assert part["start_ns"] >= whole["start_ns"]
    whole, found = report_of(tap, "last.gputap", "-w", "at>=0s"), report_of(tap, "cut.gputap")
    for table in ("not_recorded", "devices", "idle", "gaps"):
        assert found[table] == whole[table]
