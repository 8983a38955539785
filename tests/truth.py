# SPDX-License-Identifier: MIT
"""Computes the activities of tests/hip/truth.hip from its options, and compares a capture with
them."""

import collections
import csv
import itertools
import re

DEFAULTS = {
    "threads": 2, "streams": 8, "launches": 50, "copies": 0, "graphs": 0, "nodes": 8, "gpus": 1,
    "rounds": 1, "cooperative": 0
}
SHAPE = re.compile(
    r"(?:numBlocks|gridDim)=\{x=(\d+), y=(\d+), z=(\d+)\}, (?:dimBlocks|blockDimX)=\{x=(\d+),"
    r" y=(\d+), z=1\}, .*stream=(\w+)"
)
BYTES = re.compile(r"sizeBytes=(\d+)")
COPIES = {
    "memcpy H2D": "hipMemcpyHostToDevice", "memcpy D2H": "hipMemcpyDeviceToHost",
    "memcpy D2D": "hipMemcpyDeviceToDevice"
}


def number(grid, block):
    """Return the number from which shape() in truth.hip made these sizes. The block contributes two
    digits."""
    digits = [*grid, *block]
    return sum((digit - 1) << 4 * i for i, digit in enumerate(digits))


class Truth:
    """Expected activities. Use: Truth(threads=2, graphs=3).command(program);
    .check(read_capture(..))"""

    def __init__(self, **options):
        self.options = options
        self.__dict__.update(DEFAULTS | options)
        self.lanes = self.threads * self.streams
        self.first_node = self.lanes * self.launches

    def command(self, program):
        return [program, *(f"{key}={value}" for key, value in self.options.items())]

    @property
    def launched(self):
        """Return {number: count} for plain launches."""
        return collections.Counter(dict.fromkeys(range(self.first_node), self.rounds))

    @property
    def replayed(self):
        """Return {number: count} for nodes of graphs."""
        last = self.first_node + self.threads * self.nodes
        return collections.Counter(
            {n: self.rounds * self.graphs for n in range(self.first_node, last) if self.graphs})

    def kernels(self):
        return self.launched.total() + self.replayed.total()

    def check(self, found):
        """Check that every kernel is recorded as often as it ran, linked to its call, and in
        order."""
        self.check_launches(found)
        if self.graphs:
            self.check_graphs(found)
        if self.copies:
            self.check_copies(found)
        for row in found.device:
            assert found.call_of(row), f"not linked: {row}"
            check_order(found, row)

    def check_launches(self, found):
        kernels = found.kernels("numbered")
        assert collections.Counter(row["number"] for row in kernels) == self.launched
        streams = {}
        for row in kernels:
            call = found.call_of(row)
            cooperative = self.cooperative and row["number"] % self.launches % self.cooperative == 0
            assert call and call["operation"] == ("hipLaunchCooperativeKernel"
                                                  if cooperative else "hipLaunchKernel"), row
            assert (call["pid"], call["tid"]) == (row["pid"], row["tid"])
            assert call["number"] == row["number"], f"linked to another launch: {row} {call}"
            streams.setdefault(row["number"] // self.launches, []).append(
                (call["start"], row, call["stream"]))
        assert len(streams) == self.lanes
        for lane, rows in streams.items():
            rows.sort(key=lambda item: item[0])
            assert [row["number"] % self.launches
                    for _, row, _ in rows] == list(range(self.launches)) * self.rounds
            for (_, a, _), (_, b, _) in itertools.pairwise(rows):
                assert a["end"] <= b["start"], f"lane {lane} is out of order: {a} {b}"
            assert len({stream for _, _, stream in rows}) <= self.rounds
            assert {int(row["device"])
                    for _, row, _ in rows} == {found.device_numbers[lane % self.gpus]}

    def check_graphs(self, found):
        kernels = found.kernels("node")
        assert collections.Counter(row["number"] for row in kernels) == self.replayed
        by_call = collections.defaultdict(list)
        for row in kernels:
            call = found.call_of(row)
            assert call and call["operation"] == "hipGraphLaunch", row
            by_call[row["correlation"]].append(row)
        assert len(by_call) == self.rounds * self.threads * self.graphs
        # each call replays every node once, in the order of the graph capture
        for rows in by_call.values():
            rows.sort(key=lambda row: row["start"])
            assert [row["number"] - rows[0]["number"] for row in rows] == list(range(self.nodes))

    def check_copies(self, found):
        """Check that each copy and fill moved the bytes that its call requested, in one or several
        pieces."""
        moved = collections.Counter()
        for row in found.device:
            if row["operation"] in (*COPIES, "memset"):
                moved[row["correlation"], row["operation"]] += int(row["bytes"] or 0)
        asked = {}
        for id, call in found.calls.items():
            if not call["operation"].startswith(("hipMemcpy", "hipMemset")):
                continue
            kinds = ["memset"] if "Memset" in call["operation"] else [
                k for k, name in COPIES.items() if name in call["arguments"]
            ]
            asked[id, kinds[0]] = int(BYTES.search(call["arguments"])[1])
        assert len(asked) >= self.rounds * self.lanes * self.copies * 5
        assert moved == asked


# a GPU tick is 10 ns; host ticks are converted between readings one second apart
CLOCK_NS = 200


def check_order(found, row):
    call = found.call_of(row)
    assert call["start"] == int(row["call_start_ns"])
    assert call["start"] <= row["start"] + CLOCK_NS and row["start"] <= row["end"], (row, call)
    assert not row["queued_ns"] or call["start"] <= int(row["queued_ns"]) + CLOCK_NS, (row, call)


def check_held(out, spans):
    """Compare the spans of whole launches with the times that tests/hip/graphs.hip prints for its
    shape `held`."""
    said = [[int(word) for word in line.split()] for line in out.splitlines() if line[0].isdigit()]
    spans = sorted(spans, key=lambda row: row["start"])
    assert len(said) == len(spans) == 3
    for (before, waits, waited, after), row in zip(said, spans):
        assert before - CLOCK_NS <= row["start"] <= waits + CLOCK_NS, (before, waits, row)
        assert waited - CLOCK_NS <= row["end"] <= after + CLOCK_NS, (waited, after, row)


class Capture:
    """The calls of one process, by correlation id, and its GPU activities. Rows of kernels and
    launches have a `number`."""

    def __init__(self, path):
        self.calls, self.device = {}, []
        with open(path, newline="") as f:
            for row in csv.DictReader(f):
                if row["kind"] not in ("call", "device"):
                    continue
                row["start"], row["end"] = int(row["start_ns"]), int(row["end_ns"])
                if row["kind"] == "device":
                    self.device.append(self.numbered(row))
                else:
                    shape = SHAPE.search(row["arguments"])
                    if shape:
                        sizes = [int(s) for s in shape.groups()[:5]]
                        row["number"], row["stream"] = number(sizes[:3], sizes[3:]), shape[6]
                    self.calls[row["correlation"]] = row
        self.device_numbers = sorted({int(row["device"]) for row in self.device})

    @staticmethod
    def numbered(row):
        if row["operation"] == "kernel" and row["global_x"]:
            block = [int(row[f"local_{axis}"]) for axis in "xyz"]
            grid = [int(row[f"global_{axis}"]) // size for axis, size in zip("xyz", block)]
            row["number"] = number(grid, block[:2])
        return row

    def kernels(self, name):
        return [row for row in self.device if row["operation"] == "kernel" and row["name"] == name]

    def call_of(self, row):
        return self.calls.get(row["correlation"])


def read_capture(tap, capture, **keywords):
    table = f"{capture}.csv"
    tap("export", "-f", capture, "-o", table, **keywords)
    return Capture(table)
