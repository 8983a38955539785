# SPDX-License-Identifier: MIT
"""Runs the programs of tests/idle and compares the report with the stamps that the programs print.
Shared by the tests of idle time."""
import json

CAUSES = ("host", "synchronising", "allocating", "freeing", "compiling", "copying", "pageable",
          "other_call", "collective", "launching", "blocked", "submitted_late", "started_late",
          "short", "unknown")
# causes of time outside any call, by the state of the thread
HOST_STATES = ("computing", "runnable", "lock", "condition", "sleeping", "file", "pipe", "socket",
               "polling", "child", "faults", "stopped", "driver", "disk", "waiting")
CAUSES += tuple(f"host_{state}" for state in HOST_STATES)


def read_stamps(out):
    """Return {cause: ns} from the stamps that a program printed."""
    built = {}
    for line in out.splitlines():
        cause, begin, end = line.split()
        if cause == "run_delay":
            continue
        built[cause] = built.get(cause, 0) + int(end) - int(begin)
    return built


def read_delay(out):
    """Return the time in ns in which the program's main threads waited for a processor."""
    return sum(int(line.split()[2]) for line in out.splitlines() if line.startswith("run_delay "))


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
    report["run_delay_ns"] = read_delay(out)
    return read_stamps(out), report


def is_host(cause):
    """Return true for time outside any call."""
    return cause == "host" or cause.startswith("host_")


def find_idle(report, built):
    """Return {cause: ns} of a report. Programs whose stamps say "host" do not know the state of
    their thread, so that all states count as "host"."""
    idle = {}
    for row in report["idle"]:
        cause = "host" if "host" in built and is_host(row["cause"]) else row["cause"]
        idle[cause] = idle.get(cause, 0) + row["idle_ns"]
    return idle


def check_shares(built, report):
    """Check that 95 % of the provoked idle time has the provoked cause. The rest may have any
    cause: it includes the time that a kernel takes to reach the device, and delays on a loaded
    machine. Time in which the program waited for a processor, according to the kernel, is not part
    of any other cause."""
    idle = find_idle(report, built)
    assert built
    delayed = 0
    if "host_runnable" not in built:
        delayed = min(idle.get("host_runnable", 0), report.get("run_delay_ns", 0))
    found = sum(min(idle.get(cause, 0), ns) for cause, ns in built.items())
    assert found + delayed >= 0.95 * sum(built.values()), (built, idle)
    others = sum(ns for cause, ns in idle.items() if cause not in built)
    rest = sum(idle.values()) - sum(built.values()) + delayed
    assert others <= rest + 0.05 * sum(idle.values()), (built, idle)


def check_sums(report):
    """Check that the idle time of all causes adds up to the device's idle time."""
    (device, ) = report["devices"]
    assert sum(r["idle_ns"] for r in report["idle"]) == device["idle_ns"]
    assert all(r["cause"] in CAUSES for r in report["idle"])
