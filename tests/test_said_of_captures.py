# SPDX-License-Identifier: MIT
"""Test the messages of report and info about unusual captures: split in many ways, crashed,
damaged, or without an end. The messages fit in 80 columns and claim no more than is known."""

import csv
import io
import json

import pytest

import conftest

OLD = conftest.REPO / "tests" / "golden" / "old"
WIDE = {"COLUMNS": "80"}


@pytest.fixture
def synth(run, build, work):
    def make(*options, out="a.gputap"):
        run([build / "tests/synth/synth", "--calls", "1000", "--threads", "2", *options,
             "-o", out])
        return out
    return make


def too_wide(text):
    return [line for line in text.splitlines() if len(line) > 80]


@pytest.mark.parametrize("shape", ["--names tricky --nested --failed", "--processes 2 --queues 3",
                                   "--graphs --late --steps 10"])
@pytest.mark.parametrize("keys", ["process", "queue", "thread", "process,thread", "queue,name",
                                  "rank,host"])
def test_a_report_that_is_split_fits_in_80_columns(tap, synth, shape, keys):
    """The report drops its last column only if it may drop no other column first, and shortens a
    device's long name."""
    said = tap("report", synth(*shape.split()), "--by", keys, env=WIDE).out
    assert "Devices" in said and too_wide(said) == []


@pytest.mark.parametrize("shape", ["--crash --drops --lose 7", "--cut", "--late --graphs"])
def test_what_info_says_of_a_capture_with_faults_fits_in_80_columns(tap, synth, shape):
    result = tap("info", synth(*shape.split()), env=WIDE, status=None)
    assert "Records" in result.out and too_wide(result.out) == []


def test_not_all_is_never_rounded_to_all(tap, synth):
    """One of 37,500 activities is not linked."""
    synth("--calls", "100000", "--threads", "1", "--lose", "12000")
    assert "100%" not in next(line for line in tap("info", "a.gputap", status=None).out.splitlines()
                              if line.startswith("  linked"))


def test_of_what_is_damaged_or_has_no_end_nobody_says_that_nothing_was_lost(tap, synth, work):
    assert "; nothing lost\n" in tap("report", "--all", synth()).out
    assert "; nothing lost so far\n" in tap("report", "--all", synth("--cut"), status=None).out
    whole = (work / synth()).read_bytes()
    (work / "part.gputap").write_bytes(whole[:len(whole) // 2])
    said = tap("report", "--all", "part.gputap", status=None).out
    assert "damaged" in said and "nothing lost" not in said


@pytest.mark.parametrize("name", ["hip-0.1", "opencl-0.1"])
def test_time_on_devices_has_no_markers_and_barriers_in_it(tap, work, name):
    """Markers and barriers are recorded as activities but do not count as device time."""
    capture = OLD / f"{name}.gputap"
    tap("export", capture, "-o", "a.csv")
    rows = [row for row in csv.DictReader(io.StringIO((work / "a.csv").read_text()))
            if row["kind"] == "device"]
    waits = [row for row in rows if row["operation"] in ("marker", "barrier")]
    assert sum(int(row["duration_ns"]) for row in waits) > 0
    report = json.loads(tap("report", capture, "--json").out)
    for table in ("processes", "threads"):
        assert sum(row["activities"] for row in report[table]) == len(rows)
        assert sum(row["activity_ns"] for row in report[table]) == sum(
            int(row["duration_ns"] or 0) for row in rows if row not in waits)
