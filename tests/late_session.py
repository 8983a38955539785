# SPDX-License-Identifier: MIT
"""Sessions without a program of their own, for programs that attach themselves."""
import csv
import subprocess


class Session:
    def __init__(self, gputap, capture, options=()):
        self.capture = capture
        self.process = subprocess.Popen([
            gputap, "run", "-f", "-q", "-o", capture, *options, "--", "sh", "-c",
            'echo "$GPUTAP_SESSION"; read -r line'
        ], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.folder = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """End the session. Programs that are attached go on."""
        if not self.process.stdin.closed:
            self.process.communicate("\n")
        assert self.process.returncode == 0


def export_rows(tap, capture, work):
    tap("export", "-f", capture, "-o", "a.csv")
    with open(work / "a.csv", newline="") as f:
        return list(csv.DictReader(f))
