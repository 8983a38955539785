# SPDX-License-Identifier: MIT
"""What tests of idle time share: programs of tests/idle, run and compared with what they say."""
import json

CAUSES = ("host", "synchronising", "allocating", "freeing", "compiling", "copying", "pageable",
          "other_call", "collective", "launching", "held", "submitted_late", "started_late",
          "short", "unknown")


def read_stamps(out):
    """{cause: ns} of what a program wrote down."""
    built = {}
    for line in out.splitlines():
        cause, begin, end = line.split()
        built[cause] = built.get(cause, 0) + int(end) - int(begin)
    return built


def trace(tap, words, options=(), env=None, kernel=None):
    """Runs the words under gputap: what they wrote down, and the report of one device: the one that
    ran @kernel, else the first by name."""
    out = tap("run", "-q", "-f", "-o", "i.gputap", *options, "--", *words, env=env,
              timeout=120).out
    report = json.loads(
        tap("report", "i.gputap", "--json", "--top", "0", "-t", "idle,gaps,devices").out)
    # numbers are in the order of records, which is nobody's choice where there are ranks
    first = min((d["device_name"], d["device"]) for d in report["devices"])[1]
    if kernel:
        rows = json.loads(
            tap("report", "i.gputap", "--json", "-t", "kernels", "--by", "device,name").out)
        (first, ) = {r["device"] for r in rows["kernels"] if r["name"] == kernel}
    for table in ("idle", "gaps", "devices"):
        report[table] = [r for r in report[table] if r["device"] == first]
    return read_stamps(out), report


def check_shares(built, report):
    """95 % of the idle time has the cause that was built in; what was not built in, as the way of
    a kernel to the device, and what a loaded machine does, may be anything."""
    idle = {r["cause"]: r["idle_ns"] for r in report["idle"]}
    found = sum(min(idle.get(cause, 0), ns) for cause, ns in built.items())
    assert built
    assert found >= 0.95 * sum(built.values()), (built, idle)
    others = sum(ns for cause, ns in idle.items() if cause not in built)
    rest = sum(idle.values()) - sum(built.values())
    assert others <= rest + 0.05 * sum(idle.values()), (built, idle)


def check_sums(report):
    """The rows are the device's idle time."""
    (device, ) = report["devices"]
    assert sum(r["idle_ns"] for r in report["idle"]) == device["idle_ns"]
    assert all(r["cause"] in CAUSES for r in report["idle"])
