# SPDX-License-Identifier: MIT
"""Check programs on two GPUs: activities of both devices, memcpys between the devices, one process
per GPU, and NCCL."""

import collections

from gpu_harness import Missing, check
from gpu_activity import kind_of, number, split


def need_two(machine):
    if machine.devices < 2:
        raise Missing("needs two GPUs")


def by_device(work):
    return collections.Counter((row["device"], row["name"] or kind_of(row)) for row in work)


@check("several")
def peer(machine):
    """Run kernels on two devices and memcpys between the devices, in one process."""
    need_two(machine)
    capture = machine.trace(machine.program("peer"))
    said, (calls, work) = capture.said, split(capture.rows())
    of_name = {name: {row["device"] for row in work if row["name"] == name}
               for name in ("tiny", "second")}
    machine.report.judge("each kernel on its own device", str(of_name),
                         all(len(found) == 1 for found in of_name.values()) and
                         of_name["tiny"] != of_name["second"])
    for name in ("tiny", "second"):
        machine.report.equal(f"kernels {name}", capture.kernels(name), said[name])
    # Without peer access, the driver splits a copy into two copies through the host.
    copied = collections.defaultdict(list)
    for row in work:
        if row["operation"] != "kernel":
            copied[row["correlation"]].append(number(row["bytes"]))
    parts = {len(sizes) for sizes in copied.values()}
    machine.report.judge("copies between devices", f"{len(copied)}, parts of each: {sorted(parts)}",
                         sorted(set(sizes).pop() for sizes in copied.values()) ==
                         [5000 + i for i in range(said["copies"])] and len(parts) == 1)
    linked = sum((row["process"], row["correlation"]) in calls for row in work)
    machine.report.equal("linked", linked, len(work))


@check("several")
def nccl(machine):
    """Run one process per GPU, with all-reduces between the processes."""
    need_two(machine)
    capture = machine.trace(machine.script("gpu_torch_ranks.py", "2"), seconds=180)
    said, work = capture.said, split(capture.rows())[1]
    of_process = collections.defaultdict(set)
    for row in work:
        if row["operation"] == "kernel":
            of_process[row["process"]].add(row["device"])
    machine.report.judge("devices of each process",
                         "; ".join(f"{p}: {sorted(d)}" for p, d in sorted(of_process.items())),
                         len(of_process) == 2 and all(len(d) == 1 for d in of_process.values())
                         and len(set.union(*of_process.values())) == 2)
    machine.report.equal("NCCL kernels", sum("nccl" in row["name"].lower() for row in work),
                         2 * said["all_reduces"])
    seen = capture.report()
    machine.report.equal("linked", seen["linked"], seen["activities"])


LATE, LATE_MS = 1, 20


@check("several")
def late_rank(machine):
    """Delay one of two ranks before each all-reduce, and check that the other rank's device
    waits."""
    need_two(machine)
    capture = machine.trace(machine.script("gpu_torch_ranks.py", "2", str(LATE), str(LATE_MS)),
                            ["-d", "nccl,cuda_driver"], seconds=180)
    reduces, seen = capture.said["all_reduces"], capture.report()
    rows = {row["rank"]: row for row in seen["ranks"]}
    waits = {(row["rank"], row["for_rank"]): row for row in seen["rank_waits"]}
    machine.report.equal("all-reduces compared", rows[0]["compared"] or 0, reduces)
    least = (reduces - 1) * LATE_MS * 1e6
    waited = waits.get((1 - LATE, LATE), {}).get("device_wait_ns") or 0
    machine.report.judge("rank 0's device waited for rank 1",
                         f"{waited / 1e6:.1f} ms, {least / 1e6:.0f} injected",
                         0.95 * least < waited < 1.5 * least)
    back = waits.get((LATE, 1 - LATE), {}).get("wait_ns") or 0
    machine.report.judge("rank 1 waited for rank 0", f"{back / 1e6:.2f} ms", back < 0.05 * least)
