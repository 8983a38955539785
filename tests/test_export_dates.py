# SPDX-License-Identifier: MIT
"""Test that readers of exports show times that are exact to the nanosecond at any date. JSON
readers compute in doubles, whose precision depends on the distance from the file's base time."""

import csv
import json
import sqlite3
import subprocess

import pytest

from consumers import perfetto

QUARTER = 7889238  # seconds; torch.profiler's base times are multiples of this
DAY = 86400
STARTED = 1000000000  # value of synth's --start: BOOTTIME of the session's start in ns
# 2^42 us are 50.9 days, and 2^52 ns are 52.1 days
DAYS = [0, 10.1, 50.95, 51.5, 52.1, 75, 91.3]


class Dated:
    """A capture that starts @seconds after 1970, with adjacent calls and kernels of 1 to 3 ns."""

    def __init__(self, build, folder, seconds, *options):
        self.build, self.folder, self.offset = build, folder, int(seconds * 10**9) - STARTED
        self.capture = folder / "dense.gputap"
        subprocess.run([
            build / "tests/synth/synth", "--dense", "--calls", "2000", "--queues", "1",
            "--realtime-offset",
            str(self.offset), *options, "-o", self.capture
        ],
                       check=True,
                       timeout=600)

    def export(self, extension):
        path = self.folder / f"dense.{extension}"
        subprocess.run([self.build / "gputap", "export", "-f", self.capture, "-o", path],
                       check=True,
                       timeout=600,
                       stdout=subprocess.DEVNULL)
        return path

    def rows(self):
        """Return starts and durations of calls and of kernels from the CSV export, which has whole
        nanoseconds."""
        with open(self.export("csv"), newline="", encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        return [
            sorted((int(r["start_ns"]), int(r["end_ns"]) - int(r["start_ns"]))
                   for r in rows
                   if r["kind"] == kind)
            for kind in ("call", "device")
        ]


def begun(days, year=2026):
    """Return the time @days after torch.profiler's first base time in @year, in seconds after
    1970."""
    first = (year - 1970) * 31556952
    return first - first % QUARTER + QUARTER + days * DAY


def slices(events, cats, base_ns):
    return sorted((round(e["ts"] * 1000) + base_ns, round(e["dur"] * 1000))
                  for e in events
                  if e["ph"] == "X" and e["cat"] in cats)


@pytest.mark.parametrize("year", [2026, 2038, 2099])
@pytest.mark.parametrize("days", DAYS)
def test_json_in_python_has_each_nanosecond_on_any_date(build, tmp_path, days, year):
    dated = Dated(build, tmp_path, begun(days, year))
    calls, work = dated.rows()
    assert len(calls) == len(work) == 2000
    trace = json.loads(dated.export("json").read_text())
    for cat, rows in (("cuda_runtime", calls), ("kernel", work)):
        assert slices(trace["traceEvents"], [cat],
                      trace["baseTimeNanoseconds"] - dated.offset) == rows


@pytest.mark.parametrize("extension", ["json", "pftrace"])
@pytest.mark.parametrize("days", DAYS)
def test_perfetto_keeps_each_slice_and_its_nanoseconds_on_any_date(build, tmp_path, days,
                                                                   extension):
    dated = Dated(build, tmp_path, begun(days))
    path = dated.export(extension)
    base = json.loads(
        path.read_text())["baseTimeNanoseconds"] - dated.offset if extension == "json" else 0
    have = perfetto.ask(path,
                        slices="select ts, dur, category from slice",
                        complaints=perfetto.COMPLAINTS)
    assert have["complaints"] == []
    for cats, rows in zip((("cuda_runtime", "opencl"), ("kernel",)), dated.rows()):
        assert sorted(
            (s["ts"] + base, s["dur"]) for s in have["slices"] if s["category"] in cats) == rows


def test_json_in_hta_begins_in_the_right_microsecond(build, tmp_path):
    from hta.trace_analysis import TraceAnalysis

    dated = Dated(build, tmp_path, begun(51.5))
    calls, work = dated.rows()
    base = json.loads(dated.export("json").read_text())["baseTimeNanoseconds"] - dated.offset
    trace = TraceAnalysis(trace_files={0: str(dated.export("hta.json.gz"))}).t
    frame = trace.get_trace(0)
    begins = sorted(int(ts) for ts in frame[frame["correlation"] > 0]["ts"])
    first = min(begins)
    # HTA rounds up to whole us and counts from the first event
    exact = sorted(-(-(start - base) // 1000) for start, _ in calls + work)
    assert [b - first for b in begins] == [e - exact[0] for e in exact]


def test_json_of_ranks_that_begin_seconds_apart_has_one_base(build, tmp_path):
    bases = set()
    for rank, later in enumerate((0, 7, 3000)):
        (tmp_path / str(rank)).mkdir()
        dated = Dated(build, tmp_path / str(rank), begun(51.5) + later, "--rank", str(rank))
        bases.add(json.loads(dated.export("json").read_text())["baseTimeNanoseconds"])
    assert len(bases) == 1
    assert bases.pop() % (QUARTER * 10**9 // 9) == 0


def test_json_counts_from_before_the_session_so_that_no_time_is_negative(build, tmp_path):
    for seconds in (begun(0), begun(0) + 1, begun(0) + 3600, begun(0) + 3601, 2, 3601):
        dated = Dated(build, tmp_path, seconds)
        times = [
            e["ts"]
            for e in json.loads(dated.export("json").read_text())["traceEvents"]
            if "ts" in e
        ]
        assert 0 <= min(times) and max(times) < 2**42


@pytest.mark.parametrize("extension,tables", [("rpd", ("rocpd_api", "rocpd_op")),
                                              ("rocpd", ("rocpd_region", "rocpd_kernel_dispatch"))])
def test_databases_have_each_nanosecond_on_any_date(build, tmp_path, extension, tables):
    dated = Dated(build, tmp_path, begun(51.5, 2099))
    with sqlite3.connect(dated.export(extension)) as db:
        for table, rows in zip(tables, dated.rows()):
            assert all(
                type(v) is int
                for row in db.execute(f"select start, end from {table}")
                for v in row)
            have = sorted((start, end - start)
                          for start, end in db.execute(f"select start, end from {table}"))
            shift = have[0][0] - rows[0][0]
            assert [(start - shift, length) for start, length in have] == rows
