# SPDX-License-Identifier: MIT
"""Test that reports, exports and cut captures agree on the numbers of devices and queues and on the
meaning of an expression."""

import collections
import csv
import io
import json

import pytest


@pytest.fixture
def synth(run, build, work):
    def make(*options, out="a.gputap"):
        run([build / "tests/synth/synth", *options, "-o", out])
        return out
    return make


@pytest.fixture
def two(synth):
    """Write a capture of two processes with two threads each, two devices, and several queues."""
    return synth("--calls", "2000", "--threads", "2", "--processes", "2", "--devices", "2",
                 "--queues", "3")


@pytest.fixture
def work_of(tap, work):
    """Return a function: read() returns the rows of GPU activities from the CSV export."""
    def read(capture, *options):
        tap("export", "-f", capture, "-o", "rows.csv", *options)
        rows = csv.DictReader(io.StringIO((work / "rows.csv").read_text()))
        return [row for row in rows if row["kind"] == "device"]
    return read


@pytest.fixture
def report(tap):
    def read(capture, *options):
        return json.loads(tap("report", capture, "--json", *options).out)
    return read


@pytest.mark.parametrize("expression, holds", [
    ("bytes>=64KiB", lambda bytes: bytes >= 65536),
    ("bytes<64KiB", lambda bytes: bytes < 65536),
    ("bytes!=16384", lambda bytes: bytes != 16384),
])
def test_a_condition_about_bytes_holds_for_what_moves_bytes_alone(
        report, two, work_of, expression, holds):
    """Calls, kernels and ranges have no bytes."""
    moved = [row for row in work_of(two) if row["operation"] != "kernel"]
    found = report(two, "-w", expression)
    wanted = sum(holds(int(row["bytes"])) for row in moved)
    assert 0 < wanted < len(moved)
    assert found["matched"] == wanted == sum(row["count"] for row in found["copies"])
    assert found["operations"] == found["kernels"] == []


def test_a_device_keeps_its_number_where_another_one_has_no_work(tap, report, two, work_of):
    devices = collections.Counter(row["device"] for row in work_of(two))
    assert set(devices) == {"0", "1"}
    tap("export", two, "-o", "cut.gputap", "-w", "device=1")
    for capture, options in ((two, ("-w", "device=1")), ("cut.gputap", ()),
                             ("cut.gputap", ("-w", "device=1"))):
        found = report(capture, *options)
        assert [(row["device"], row["activities"])
                for row in found["devices"]] == [(1, devices["1"])]
        assert {row["device"] for row in found["kernels"] + found["copies"]} == {1}
        assert {row["device"] for row in work_of(capture, *options)} == {"1"}


def test_a_queue_has_one_number_in_reports_and_exports(report, two, work_of):
    """A queue's number counts within its process and device, independently of which queue has the
    first record."""
    def sums(rows):
        found = collections.Counter()
        for pid, device, queue, ns in rows:
            found[int(pid), int(device), int(queue)] += int(ns)
        return found

    rows = [(row["pid"], row["device"], row["queue"], row["duration_ns"])
            for row in work_of(two)]
    tables = report(two, "--by", "queue,device", "-n", "0")
    assert len(sums(rows)) > 6
    assert sums(rows) == sums((row["pid"], row["device"], row["queue"], row["total_ns"])
                              for row in tables["kernels"] + tables["copies"])
    chosen = [(row["pid"], row["device"], row["queue"], row["duration_ns"])
              for row in work_of(two, "-w", "queue=2")]
    assert sums(chosen) == {key: ns for key, ns in sums(rows).items() if key[2] == 2}


def test_streams_of_an_export_do_not_depend_on_what_is_exported(tap, work, two):
    """In Chrome's format one number identifies a device's queue across all processes."""
    def streams(*options):
        tap("export", "-f", two, "-o", "a.json", *options)
        return {(e["args"]["correlation"], e["name"]): (e["pid"], e["args"]["stream"])
                for e in json.loads((work / "a.json").read_text())["traceEvents"]
                if e.get("cat") in ("kernel", "gpu_memcpy")}

    whole, some = streams(), streams("-w", "queue=2")
    assert some and all(whole[work_item] == stream for work_item, stream in some.items())


def test_a_report_says_where_idle_is_between_some_of_the_work(tap, two):
    """If the report shows only some activities, the device may have run other activities in a
    gap."""
    said = tap("report", two, "-t", "devices,gaps").out
    assert "between activities" in said and "alone" not in said
    for options in (("-w", "kind=kernel"), ("--by", "queue")):
        said = tap("report", two, "-t", "devices,gaps", *options).out
        assert "Devices: activities of each row, from the first to the last" in said
        assert "Largest gaps between activities of the same row" in said
        assert "nothing to do" not in said


def test_an_export_of_ranges_alone_says_what_it_lacks(tap, report, synth):
    """Pushed ranges are exported only together with their calls."""
    path = synth("--calls", "500", "--phases", "20")
    assert sum(row["count"] for row in report(path, "-w", "name=phase")["ranges"]) > 0
    said = tap("export", path, "-o", "a.csv", "-w", "name=phase").err
    assert "matches no record of a call or GPU activity" in said


def test_a_timelines_queues_have_the_numbers_of_the_report(tap, report, two, synth):
    """Labels name the process if several processes have queues, and omit it otherwise."""
    def shown(capture, label):
        rows = json.loads(tap("report", capture, "--timeline", "--json").out)["rows"]
        return {(row["group"].split(":")[0], row["label"]): row["count"]
                for row in rows if row["kind"] == "queue"} == {
            (f"device {row['device']}", label(row)): row["activities"]
            for row in report(capture, "--by", "queue", "-t", "devices")["devices"]}

    assert shown(two, lambda row: f"queue {row['queue']}, {row['pid']}")
    assert shown(synth("--calls", "500", "--queues", "2", out="one.gputap"),
                 lambda row: f"queue {row['queue']}")
