# SPDX-License-Identifier: MIT
"""Imports the package gputap of the source tree with the library of the tested build, and compares
its tables with `gputap export x.csv`."""
import collections
import csv
import os
import sys

import conftest

# for this process; conftest.clean_environment() removes the variable for others
os.environ["GPUTAP_CAPTURE_LIBRARY"] = str(conftest.BUILD / "libgputap-capture.so.0")
SOURCES = conftest.REPO / "python/src"
sys.path.insert(0, str(SOURCES))

import gputap  # noqa: E402

# environment in which another Python finds the package and the library
ENVIRONMENT = {"PYTHONPATH": SOURCES,
               "GPUTAP_CAPTURE_LIBRARY": conftest.BUILD / "libgputap-capture.so.0"}
SESSION_SHIFT, THREAD_SHIFT = 48, 24  # of ids


def rows_of(table):
    """Return the rows of a table as dicts, with all columns."""
    return table.select(*(c.name for c in table.all_columns)).to_arrow().to_pylist()


def known(text):
    return int(text) if text else None


def csv_rows(tap, *captures):
    """Return the calls and the GPU activities of `gputap export all.csv`."""
    tap("export", "-f", *captures, "-o", "all.csv", status=None)
    with open("all.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return tuple([r for r in rows if r["kind"] == kind] for kind in ("call", "device"))


class Capture:
    """The tables of a capture, in the numbers of the CSV."""

    def __init__(self, capture):
        self.offset_ns = rows_of(capture.sessions)[0]["realtime_offset_ns"]
        self.pids = {p["process"]: p["pid"] for p in rows_of(capture.processes)}
        self.threads = {t["thread"]: t for t in rows_of(capture.threads)}
        self.queues = {q["queue"]: q["number"] for q in rows_of(capture.queues)}
        self.first_thread = {}
        for thread in sorted(self.threads):
            self.first_thread.setdefault(self.threads[thread]["session"], thread)
        self.calls, self.activities = rows_of(capture.calls), rows_of(capture.activities)

    def correlation(self, call):
        """Return the CSV's id of a call."""
        if call is None:
            return None
        thread = call >> THREAD_SHIFT & (1 << SESSION_SHIFT - THREAD_SHIFT) - 1
        first = self.first_thread[call >> SESSION_SHIFT]
        return first + thread << 32 | call & (1 << THREAD_SHIFT) - 1

    def boot_time(self, ns):
        return None if ns is None else ns - self.offset_ns

    def call(self, row):
        """Return a call as call_of_csv() does."""
        return (self.correlation(row["id"]), self.correlation(row["parent"]), row["depth"],
                row["process"], row["domain"], row["operation"], self.boot_time(row["start_ns"]),
                row["duration_ns"], row["status"], row["error"] or "", row["arguments"] or "")

    def activity(self, row):
        """Return a GPU activity as activity_of_csv() does."""
        times = (self.boot_time(row[f"{part}_ns"])
                 for part in ("start", "queued", "submitted", "call_start"))
        sizes = (row[f"{kind}_{axis}"] or None for kind in ("global", "local") for axis in "xyz")
        return (self.correlation(row["call"]), row["process"], row["domain"], row["kind"],
                row["name"] or "", *times, row["duration_ns"], row["bytes"], *sizes,
                row["status"], row["device"], self.queues.get(row["queue"]), row["graph"],
                row["graph_node"], row["graph_replay"])


def call_of_csv(row):
    return (int(row["correlation"]), known(row["parent"]), int(row["depth"]), int(row["process"]),
            row["domain"], row["operation"], int(row["start_ns"]), int(row["duration_ns"]),
            known(row["status"]), row["error"], row["arguments"])


def activity_of_csv(row):
    timed = row["duration_ns"] != ""
    return (known(row["correlation"]), int(row["process"]), row["domain"], row["operation"],
            row["name"], known(row["start_ns"]) if timed else None,
            *(known(row[f"{part}_ns"]) for part in ("queued", "submitted", "call_start")),
            known(row["duration_ns"]), known(row["bytes"]),
            *(known(row[f"{kind}_{axis}"]) for kind in ("global", "local") for axis in "xyz"),
            int(row["status"]), known(row["device"]), known(row["queue"]), known(row["graph"]),
            known(row["graph_node"]), known(row["graph_replay"]))


def check_with_csv(capture, tap, *paths):
    """Check each call and each GPU activity of the tables, which have no other."""
    tables, (calls, activities) = Capture(capture), csv_rows(tap, *paths)
    assert collections.Counter(map(tables.call, tables.calls)) == collections.Counter(
        map(call_of_csv, calls))
    assert collections.Counter(map(tables.activity, tables.activities)) == collections.Counter(
        map(activity_of_csv, activities))
    return tables


__all__ = ["ENVIRONMENT", "check_with_csv", "csv_rows", "gputap", "rows_of"]
