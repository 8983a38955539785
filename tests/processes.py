# SPDX-License-Identifier: MIT
"""Tests of processes: programs of tests/tree, captures read back by tests/tree/dump."""

import json
import os
import pathlib
import struct
import subprocess
import time

import conftest


class Tree:
    """Runs tests/tree/caller under gputap in the current folder; see caller.c for its steps."""

    def __init__(self, build):
        self.gputap, self.folder = build / "gputap", build / "tests/tree"
        self.caller, self.bare = self.folder / "caller", self.folder / "bare"

    def run(self, *steps, options=(), capture="c.gputap", program=None, **keywords):
        command = [
            self.gputap, "run", "-o", capture, *options, "--", program or self.caller, *steps
        ]
        return conftest.run_command(command, **keywords)

    def start(self, *steps, options=(), capture="c.gputap", program=None, **keywords):
        """Popen of it; the caller waits. Its own session, so that signals to the group stay in
        it."""
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
        """The capture, checked for what must always hold: what it says is what is in it."""
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
                assert counts["seen"] == (counts["recorded"] + counts["not_kept"] +
                                          sum(counts["dropped"].values())), p
        return found

    def calls(self, capture="c.gputap"):
        """(pid, calls) of each process, sorted; no loss."""
        found = self.read(capture)
        assert found["end"] == "complete", found
        assert all(not p["count_calls"]["dropped"] for p in found["processes"]), found
        return sorted((p["pid"], p["calls"]) for p in found["processes"])


def printed_calls(result):
    """What the processes said they made: (pid, calls), sorted."""
    return sorted(tuple(int(w) for w in line.split()) for line in result.out.splitlines())


def sessions_of(capture):
    """Session folders whose capture is @capture."""
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
    """Calls that had returned, as caller's `tally:` counts them."""
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
    """The program that a started gputap runs."""
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(lambda: children.read_text().split(), "the program")
    return int(children.read_text().split()[0])


def finish(process, timeout=conftest.HANGS_SECONDS):
    out, err = process.communicate(timeout=timeout)
    return conftest.Result([str(a) for a in process.args], process.returncode, out, err)
