# SPDX-License-Identifier: MIT
"""Tests the injected library without a collector: creates a session folder, runs a traced command
and reads the rings."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import conftest


class Session:
    """Usage: with Session(build, wait=0) as s: s.run([...]); s.calls()"""

    def __init__(self, build, under="/dev/shm", **options):
        self.build, self.under, self.options = build, under, options
        self.library = build / "libgputap.so.0"
        self.audit = build / "libgputap-audit.so"
        self.tool = build / "tests/core/rings"

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gttest-", dir=self.under))
        try:
            subprocess.run(
                [self.tool, "make", self.folder, *(f"{k}={v}" for k, v in self.options.items())],
                check=True)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def environment(self, **more):
        layers = more.pop("layers", str(self.library))
        return {
            "GPUTAP_SESSION": self.folder, "GPUTAP_OPENCL_LAYERS": layers,
            "LD_PRELOAD": self.library, "LD_AUDIT": self.audit, "OPENCL_LAYERS": layers, **more
        }

    def run(self, command, env=None, **keywords):
        return conftest.run_command(command, env=self.environment(**(env or {})), **keywords)

    def stop(self):
        subprocess.run([self.tool, "stop", self.folder], check=True)

    def records(self, exe=None):
        """Check all dumped items and return them. If @exe is given, return only the items of that
        program's processes."""
        out = subprocess.run([self.tool, "dump", self.folder], stdout=subprocess.PIPE, text=True)
        items, wanted = [], True
        for line in out.stdout.splitlines():
            item = json.loads(line)
            assert item["kind"] != "bad", line
            if item["kind"] == "segment":
                wanted = exe is None or os.path.basename(item["exe"]) == exe
            if wanted:
                items.append(item)
        assert out.returncode == 0, out.stdout[-2000:]
        return items

    def kind(self, kind, exe=None):
        return [r for r in self.records(exe) if r["kind"] == kind]

    def calls(self, exe=None):
        """Return the names of the recorded calls, in order of call end."""
        names = operation_names()
        return [names[r["domain"], r["number"]] for r in self.kind("call", exe)]

    def counts(self, exe=None):
        """Return (seen, recorded, dropped) of calls, summed over all processes."""
        return tuple(
            sum(c["call"][k]
                for c in self.kind("counts", exe))
            for k in ("seen", "recorded", "dropped"))


def operation_names():
    """Return {(domain, number): name} from the list of frozen operation numbers."""
    numbers = {
        name: int(number) for number, name in re.findall(r'X\((\d+), \w+, "(\w+)"', (
            conftest.BUILD / "generated/domains.h").read_text())
    }
    rows = [
        line.split()
        for line in (conftest.REPO / "tests/golden/operations.txt").read_text().splitlines()
    ]
    return {(numbers[row[0]], int(row[1])): row[2] for row in rows if row and row[0] in numbers}
