# SPDX-License-Identifier: MIT
"""Check records other than the driver's calls: calls of the runtime API on request, NVTX ranges,
memory."""

import collections

from gpu_calls import RUNTIME, compare
from gpu_harness import check

RUNTIME_TOO = ["-d", "cuda_driver,cuda_runtime"]


def find_within(rows):
    """Return the number of driver calls that started inside a runtime API call of their thread, and
    the number of these driver calls whose parent is that call."""
    threads = collections.defaultdict(list)
    for row in sorted(rows, key=lambda row: int(row["start_ns"])):
        threads[row["tid"]].append(row)
    within = children = 0
    for calls in threads.values():
        outer = None
        for row in calls:
            if row["domain"] == "cuda_runtime":
                outer = row
            elif outer and int(row["end_ns"]) <= int(outer["end_ns"]):
                within += 1
                children += row["parent"] == outer["correlation"] or row["depth"] != "1"
    return within, children


@check("runtime")
def static_cudart(machine):
    """Compare runtime API calls with CUPTI's count, and check the driver calls inside them."""
    capture = compare(machine, "cudart static, calls of both APIs",
                      machine.runtime_program("static"), RUNTIME_TOO, RUNTIME)
    rows = [row for row in capture.rows() if row["kind"] == "call"]
    mine = {(row["process"], row["correlation"]) for row in rows
            if row["domain"] == "cuda_runtime"}
    found = [row for row in rows if row["operation"] == "cuLaunchKernel"]
    inside = sum((row["process"], row["parent"]) in mine for row in found)
    machine.report.equal("cuLaunchKernel inside a call of the runtime API", inside, len(found))
    within, children = find_within(rows)
    machine.report.equal("driver calls nested in a runtime call that are its children",
                         children, within)
    alone = collections.Counter(row["operation"] for row in rows if row["depth"] == "0"
                                and row["domain"] == "cuda_driver")
    machine.report.say("driver calls outside runtime API calls", ", ".join(
        f"{name} {calls}" for name, calls in alone.most_common(8)))
    seen = capture.report()
    machine.report.equal("linked GPU activities", seen["linked"], seen["activities"])


@check("runtime")
def torch(machine):
    """Compare PyTorch's calls of the runtime API with CUPTI's count."""
    compare(machine, "torch, calls of both APIs", machine.script("gpu_torch_everything.py"),
            [*RUNTIME_TOO, "--no-device"], RUNTIME)


@check("runtime")
def nvtx(machine):
    """Check ranges and marks of torch.cuda.nvtx, and of the package nvtx."""
    capture = machine.trace(machine.script("gpu_torch_nvtx.py"))
    ranges = {}
    for row in capture.report()["ranges"]:
        ranges[row["name"]] = ranges.get(row["name"], 0) + row["count"]
    for name, wanted in capture.said.items():
        machine.report.equal(f"ranges {name}", ranges.get(name, 0), wanted)


@check("runtime")
def memory(machine):
    """Report memory that cuMemAlloc() and pools allocated and freed."""
    capture = machine.trace(machine.runtime_program("static"))
    rows = capture.report()["memory"]
    for row in rows:
        machine.report.say(f"memory, {row.get('memory')}", ", ".join(
            f"{key} {row[key]}" for key in ("bytes", "left_bytes", "peak_bytes") if key in row))
    machine.report.judge("report contains device memory", f"{len(rows)} rows",
                         any(row.get("memory") == "device" and row["bytes"] >= 2 << 19
                             for row in rows))
