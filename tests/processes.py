# SPDX-License-Identifier: MIT
"""Runs the programs of tests/tree and reads captures with tests/tree/dump. Shared by the tests of
processes."""

import json
import os
import pathlib
import struct
import subprocess
import time

import conftest


class Tree:
    """Runs tests/tree/caller under gputap in the current folder. caller.c describes the steps."""

    def __init__(self, build):
        self.gputap, self.folder = build / "gputap", build / "tests/tree"
        self.caller, self.bare = self.folder / "caller", self.folder / "bare"

    def run(self, *steps, options=(), capture="c.gputap", program=None, **keywords):
        command = [
            self.gputap, "run", "-o", capture, *options, "--", program or self.caller, *steps
        ]
        return conftest.run_command(command, **keywords)

    def start(self, *steps, options=(), capture="c.gputap", program=None, **keywords):
        """Start `gputap run` with a caller that waits, and return the Popen. The new process leads
        its own session, so that signals to its group do not reach the tests."""
        command = [
            self.gputap, "run", "-o", capture, *options, "--", program or self.caller, *steps
        ]
        return subprocess.Popen([str(c) for c in command],
                                env=conftest.clean_environment(),
                                text=True,
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE,
                                start_new_session=True,
                                **keywords)

    def read(self, capture="c.gputap"):
        """Check that the counts in the capture agree with its records, and return the decoded
        capture."""
        out = subprocess.run([self.folder / "dump", capture],
                             stdout=subprocess.PIPE,
                             text=True,
                             check=True)
        found = json.loads(out.stdout)
        assert found["bad_blocks"] == 0, found
        for p in found["processes"]:
            for kind, name in (("calls", "count_calls"), ("device", "count_device")):
                counts = p[name]
                assert counts["recorded"] == p[kind], p
                assert counts["seen"] == (counts["recorded"] + counts["evicted"] +
                                          sum(counts["dropped"].values())), p
        return found

    def calls(self, capture="c.gputap"):
        """Check that nothing was lost, and return a sorted list of (pid, number of calls)."""
        found = self.read(capture)
        assert found["end"] == "complete", found
        assert all(not p["count_calls"]["dropped"] for p in found["processes"]), found
        return sorted((p["pid"], p["calls"]) for p in found["processes"])


def printed_calls(result):
    """Return a sorted list of (pid, number of calls), as the processes printed them."""
    return sorted(tuple(int(w) for w in line.split()) for line in result.out.splitlines())


def sessions_of(capture):
    """Return the session folders whose capture is @capture."""
    path = str(pathlib.Path(capture).absolute())
    found = []
    for folder in pathlib.Path("/dev/shm").glob("gputap-*"):
        try:
            if (folder / "output").read_bytes() == os.fsencode(path):
                found.append(folder)
        except OSError:
            pass
    return found


def tally(path):
    """Return the number of calls that have returned, which the caller's step `tally:` writes to
    @path."""
    try:
        return struct.unpack("Q", pathlib.Path(path).read_bytes()[:8])[0]
    except (OSError, struct.error):
        return 0


def wait_until(condition, what, seconds=conftest.HANGS_SECONDS):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.001)


def child_of(process):
    """Return the pid of the program that runs under @process, a started gputap."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(lambda: children.read_text().split(), "the program")
    return int(children.read_text().split()[0])


def finish(process, timeout=conftest.HANGS_SECONDS):
    out, err = process.communicate(timeout=timeout)
    return conftest.Result([str(a) for a in process.args], process.returncode, out, err)
