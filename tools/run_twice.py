# SPDX-License-Identifier: MIT
"""Run all tests with pytest, then run tests that failed once more, one at a time, because tests may
fail on a busy machine.

    tools/run_twice.py [ARGUMENTS OF PYTEST]

Failing tests, if at most 25, run a second time: one after another, with no other test at the same
time. A test that fails again fails the run. A test that then passes does not fail the run, but is
named at the end, because it should be made robust. The last line combines both runs."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

AGAIN_MOST = 25
OUTCOMES = "GPUTAP_TEST_OUTCOMES"  # file that the plug-in below writes


def pytest_terminal_summary(terminalreporter):
    """Write test ids by outcome, as a pytest plug-in, in both runs. A test may have several
    outcomes."""
    stats = terminalreporter.stats
    outcomes = {
        name: sorted({report.nodeid
                      for report in stats.get(name, [])})
        for name in ("passed", "failed", "error", "skipped")
    }
    pathlib.Path(os.environ[OUTCOMES]).write_text(json.dumps(outcomes))


def run_pytest(folder, *arguments):
    """Return the exit status, and the test ids by outcome as sets, or None if pytest did not reach
    its summary."""
    out = folder / "outcomes.json"
    out.unlink(missing_ok=True)
    path = os.pathsep.join([str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    status = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-p", "run_twice", "-o", f"cache_dir={folder}/cache",
            *arguments
        ],
        env=os.environ | {
            OUTCOMES: str(out), "PYTHONPATH": path.rstrip(os.pathsep)
        }).returncode
    found = json.loads(out.read_text()) if out.exists() else None
    return status, found and {name: set(ids) for name, ids in found.items()}


def run_twice(folder, arguments):
    status, first = run_pytest(folder, *arguments)
    failed = first["failed"] | first["error"] if first else set()
    if status != 1 or not 0 < len(failed) <= AGAIN_MOST:
        return status
    print(f"\n{len(failed)} failed: running them again, one after another", flush=True)
    status, again = run_pytest(folder, *arguments, "-n", "0", "--last-failed",
                               "--last-failed-no-failures", "none")
    if status not in (0, 1) or not again:
        return status or 1
    failed_again = again["failed"] | again["error"]
    alone = failed & again["passed"] - failed_again
    skipped = failed & again["skipped"] - failed_again
    failed -= alone | skipped  # includes tests that were not found in the second run
    for name in sorted(failed):
        print(f"failed twice: {name}")
    if alone:
        print(f"{len(alone)} tests passed only when run alone: {', '.join(sorted(alone))}")
    passed = first["passed"] - first["failed"] - first["error"] | alone
    print(f"{len(passed)} passed, {len(failed)} failed,"
          f" {len(first['skipped'] | skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="gputap-tests-") as name:
        sys.exit(run_twice(pathlib.Path(name), sys.argv[1:]))
