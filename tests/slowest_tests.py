# SPDX-License-Identifier: MIT
"""A pytest plug-in that measures what each test costs, prints the slowest 20 tests at the end of a
run of more tests, and writes a line per test to test-costs.txt in the build folder.

CPU seconds are those of the worker and of the processes that ended during the test, including
set-up and tear-down. A fixture of a module or session counts for the first test that needs it."""

import collections
import resource

import pytest

SHOWN = 20


def cpu_seconds():
    """Return the CPU time of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


class Worker:
    """Adds the CPU time of each phase of a test to the phase's report, which xdist passes on."""

    def __init__(self):
        self.until_now = cpu_seconds()

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_makereport(self):
        outcome = yield
        now = cpu_seconds()
        outcome.get_result().cpu_seconds, self.until_now = now - self.until_now, now


class Controller:
    """Adds up the reports of all workers."""

    def __init__(self, costs_file):
        self.costs_file = costs_file
        self.costs = collections.defaultdict(lambda: [0.0, 0.0])  # CPU and wall seconds of a test

    def pytest_runtest_logreport(self, report):
        cost = self.costs[report.nodeid]
        cost[0] += getattr(report, "cpu_seconds", 0)
        cost[1] += report.duration

    def pytest_terminal_summary(self, terminalreporter):
        if len(self.costs) <= SHOWN:
            return
        tests = sorted(self.costs.items(), key=lambda item: item[1], reverse=True)
        lines = [f"{cpu:8.2f} {wall:8.2f}  {name}" for name, (cpu, wall) in tests]
        try:
            self.costs_file.write_text("".join(f"{line}\n" for line in lines))
        except OSError:
            pass  # the build may belong to another user
        total = sum(cpu for cpu, _ in self.costs.values())
        terminalreporter.section(f"slowest {SHOWN} of {len(tests)} tests")
        terminalreporter.write_line("   CPU s   wall s  test")
        for line in lines[:SHOWN]:
            terminalreporter.write_line(line)
        terminalreporter.write_line(f"{total:8.2f}           all tests (all: {self.costs_file})")


def register(config, costs_file):
    """Measure tests in this process, and report them unless it is a worker of xdist."""
    config.pluginmanager.register(Worker(), "slowest_tests_worker")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Controller(costs_file), "slowest_tests")
