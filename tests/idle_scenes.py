# SPDX-License-Identifier: MIT
"""Runs the programs of tests/idle and compares the report with the stamps that the programs print.
Shared by the tests of idle time."""
import json

CAUSES = ("host", "synchronising", "allocating", "freeing", "compiling", "copying", "pageable",
          "other_call", "collective", "launching", "blocked", "submitted_late", "started_late",
          "short", "unknown")


def read_stamps(out):
    """Return {cause: ns} from the stamps that a program printed."""
    built = {}
    for line in out.splitlines():
        cause, begin, end = line.split()
        built[cause] = built.get(cause, 0) + int(end) - int(begin)
    return built


def trace(tap, words, options=(), env=None, kernel=None):
    """Run the command @words under gputap. Return the program's stamps and the report of one
    device: the device that ran @kernel, or by default the first device in name order."""
    out = tap("run", "-q", "-f", "-o", "i.gputap", *options, "--", *words, env=env,
              timeout=120).out
    report = json.loads(
        tap("report", "i.gputap", "--json", "--top", "0", "-t", "idle,gaps,devices").out)
    # Device numbers follow the order of records, which is arbitrary with several ranks.
    first = min((d["device_name"], d["device"]) for d in report["devices"])[1]
    if kernel:
        rows = json.loads(
            tap("report", "i.gputap", "--json", "-t", "kernels", "--by", "device,name").out)
        (first, ) = {r["device"] for r in rows["kernels"] if r["name"] == kernel}
    for table in ("idle", "gaps", "devices"):
        report[table] = [r for r in report[table] if r["device"] == first]
    return read_stamps(out), report


def check_shares(built, report):
    """Check that 95 % of the provoked idle time has the provoked cause. The rest may have any
    cause: it includes the time that a kernel takes to reach the device, and delays on a loaded
    machine."""
    idle = {r["cause"]: r["idle_ns"] for r in report["idle"]}
    found = sum(min(idle.get(cause, 0), ns) for cause, ns in built.items())
    assert built
    assert found >= 0.95 * sum(built.values()), (built, idle)
    others = sum(ns for cause, ns in idle.items() if cause not in built)
    rest = sum(idle.values()) - sum(built.values())
    assert others <= rest + 0.05 * sum(idle.values()), (built, idle)


def check_sums(report):
    """Check that the idle time of all causes adds up to the device's idle time."""
    (device, ) = report["devices"]
    assert sum(r["idle_ns"] for r in report["idle"]) == device["idle_ns"]
    assert all(r["cause"] in CAUSES for r in report["idle"])
