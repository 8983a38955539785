# SPDX-License-Identifier: MIT
"""Check causes of idle time, the lines around gaps and the patterns of PyTorch on a real device.
gpu_torch_causes.py provokes one cause at a time and prints its time."""

import json

from gpu_harness import check

STEPS = 40
NEAR = 0.05  # allowed difference from the time that the program prints
# cause of the program: causes in the report that are right
RIGHT = {
    "sleep": {"host_sleeping"},
    "compute": {"host_computing"},
    "lock": {"host_lock", "host_condition"},  # a lock of Python is a semaphore, without a holder
    "condition": {"host_lock", "host_condition"},
    "file": {"host_file", "host_disk"},
    "pipe": {"host_pipe"},
    "socket": {"host_socket"},
    "child": {"host_child", "host_polling", "host_pipe"},  # subprocess waits in several ways
    "faults": {"host_faults"},
    "collector": {"host_computing"},
}
PATTERNS = {
    "items": "small_copies",
    "allocations": "allocations_in_loop",
    "pageable": "pageable_copies",
    "many": "small_kernels",
}


def rows(machine, capture, table):
    return json.loads(machine.tap("report", "--json", "--top", "0", "-t", table,
                                  capture.path))[table]


def judge_cause(machine, cause):
    capture = machine.trace(machine.script("gpu_torch_causes.py", cause, STEPS))
    idle = rows(machine, capture, "idle")
    found = sum(r["idle_ns"] for r in idle if r["cause"] in RIGHT[cause]) / 1e6
    # the steps that the program leaves out have the cause as well
    wanted = capture.said["loader_ms"] * STEPS / (STEPS - 5)
    machine.report.judge(f"idle time by {cause}", f"{found:.1f} of {wanted:.1f} ms",
                         abs(found - wanted) <= NEAR * wanted)
    (most, ) = [r for r in idle if r["idle_ns"] == max(r["idle_ns"] for r in idle)]
    machine.report.add("info", f"{cause}: largest row", json.dumps(
        {k: most.get(k) for k in ("cause", "mostly", "after_call", "after_line", "before_call",
                                  "before_line")}))
    lines = f"{most.get('after_line')} {most.get('before_line')} {most.get('mostly')}"
    machine.report.judge(f"{cause}: a line of the program is named", lines,
                         "gpu_torch_causes.py" in lines)


@check("causes")
def causes_of_torch(machine):
    """Report the cause of each kind of host time."""
    for cause in RIGHT:
        judge_cause(machine, cause)


@check("causes")
def patterns_of_torch(machine):
    """Name each pattern, with the idle time that it caused."""
    for cause, pattern in PATTERNS.items():
        capture = machine.trace(machine.script("gpu_torch_causes.py", cause, STEPS))
        found = {row["pattern"]: row for row in rows(machine, capture, "patterns")}
        row = found.get(pattern, {})
        machine.report.judge(f"pattern of {cause}", f"{row.get('sentence')} ({sorted(found)})",
                             pattern in found)
        machine.report.judge(f"{cause}: advice", str(row.get("advice")), bool(row.get("advice")))
        steps = found.get("period", {}).get("steps") or 0
        machine.report.judge(f"{cause}: steps", f"{steps} of {STEPS}", abs(steps - STEPS) <= 3)


@check("causes")
def first_screen_of_a_starved_loader(machine):
    """Name the loader's line on the first screen, without torch's package."""
    capture = machine.trace(machine.script("gpu_torch_causes.py", "sleep", STEPS))
    screen = machine.tap("report", capture.path)
    named = [line for line in screen.splitlines() if "gpu_torch_causes.py" in line]
    machine.report.judge("lines of the program on the first screen", " / ".join(named)[:300],
                         bool(named))
