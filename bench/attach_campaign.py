#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attach to programs that know nothing of gputap, many times, and find out if they notice.

    bench/attach_campaign.py [-b BUILD] [-n ATTACHES] [--heavy ATTACHES] [PROGRAM ...]

Runs `gputap attach` and `gputap detach` ATTACHES times (1,000 in all for small programs, 50 for
each heavy one), and prints one line per program: attaches, how many succeeded, were refused, and
whether they disturbed the program; the longest stop of a thread and the time until attached,
median / maximum; and how many threads, descriptors and mappings the program gained from the third
attach on. A program is disturbed if it ends early, or if its output or its exit status differ from
those of a run without attach. For programs that launch kernels, a capture must have all launches
between attach and detach. Exit status 1 if a program was disturbed or launches are missing."""
import argparse
import collections
import contextlib
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

import attach_targets

ATTACHED = re.compile(r"attached to .* in (\S+ \S+); its threads stood still for (\S+ \S+) at most")
UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3, "min": 6e4}
FEW_ATTACHES = 5  # for programs that are refused after seconds
SETTLED = 2       # attaches after which a program keeps what it has


def parse(text):
    """Return milliseconds."""
    number, unit = text.split()
    return float(number.replace(",", "")) * UNITS[unit]


class Attachment:
    """One `gputap attach` and `gputap detach`."""
    def __init__(self, gputap, pid, capture):
        self.refused, self.text, self.gputap, self.pid = None, "", gputap, pid
        self.process = subprocess.Popen([gputap, "attach", "-f", "-o", capture, str(pid)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True)
        while not (found := ATTACHED.search(" ".join(self.text.split()))):
            line = self.process.stderr.readline()
            self.text += line
            if not line:
                self.process.wait()
                self.refused = " ".join(self.text.split())
                return
        self.took, self.stop = parse(found[1]), parse(found[2])

    def detach(self):
        subprocess.run([self.gputap, "detach", "-q", str(self.pid)], check=False,
                       timeout=attach_targets.SECONDS, capture_output=True)
        self.text += self.process.communicate(timeout=attach_targets.SECONDS)[1]


def count_owned(pid):
    """Return the numbers of threads, descriptors and mappings of a process."""
    with contextlib.suppress(OSError):
        return [len(os.listdir(f"/proc/{pid}/{x}")) for x in ("task", "fd")] + [
            pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").count("\n")]
    return None


def cycle(gputap, program, folder, row):
    """Attach once, and detach."""
    capture = folder / "x.gputap"
    attachment = Attachment(gputap, program.pick(), capture)
    if attachment.refused:
        row["reasons"][re.sub(r"\d+", "N", attachment.refused)] += 1
        return
    begun = program.read_counts()[0] if program.counts else 0
    time.sleep(random.choice((0, 0.005, 0.02)))
    done = program.read_counts()[1] if program.counts else 0
    attachment.detach()
    row["took"].append(attachment.took)
    row["stops"].append(attachment.stop)
    if attachment.process.returncode:
        row["failed"].append(attachment.text)
    if program.counts:
        recorded = program.count_recorded(gputap, capture)
        row["recorded"].append(recorded)
        if recorded < done - begun:
            row["missing"].append((done - begun, recorded))


def attack(gputap, name, start, count, folder):
    """Return a dict for the table."""
    program = start(folder)
    row = collections.defaultdict(list, name=name, reasons=collections.Counter())
    owned = None
    for number in range(count):
        cycle(gputap, program, folder, row)
        if number == SETTLED and isinstance(program, attach_targets.Program):
            owned = count_owned(program.pick())
        if not program.is_running():
            break
    last = count_owned(program.pick()) if owned else None
    row["gained"] = "/".join(str(x - y) for x, y in zip(last, owned)) if last else ""
    row["wrong"] = program.end()
    return row


def show(row):
    def times(key):
        x = row[key]
        return f"{statistics.median(x):.1f} / {max(x):.1f}" if x else "-"

    refused = sum(row["reasons"].values())
    print(f"{row['name']:32}{len(row['took']) + refused:6}{len(row['took']):6}{refused:6}"
          f"{'YES' if row['wrong'] else 'no':>6}  {times('stops'):>14}  {times('took'):>16}  "
          f"{row['gained']}", flush=True)
    for reason, number in row["reasons"].items():
        print(f"    {number} refused: {reason}")
    for text in row["failed"]:
        print(f"    failed: {text}")
    if row["recorded"]:
        print(f"    {sum(row['recorded'])} launches recorded, in {len(row['recorded'])} captures")
    for wanted, found in row["missing"]:
        print(f"    MISSING: {found} launches recorded, at least {wanted} were made")
    if row["wrong"]:
        print(f"    DISTURBED: {row['wrong']}")
    sys.stdout.flush()


def count_attaches(args, kind, shares):
    if kind == attach_targets.HEAVY:
        return args.heavy
    return FEW_ATTACHES if kind == attach_targets.FEW else -(-args.count * kind // shares)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-b", dest="build", type=pathlib.Path,
                        default=attach_targets.REPO / "build")
    parser.add_argument("-n", dest="count", type=int, default=1000)
    parser.add_argument("--heavy", type=int, default=50)
    parser.add_argument("programs", nargs="*", help="only those whose names contain this")
    args = parser.parse_args()
    build = args.build.resolve()
    programs = attach_targets.find(build)
    shares = sum(kind for _, kind in programs.values() if isinstance(kind, int))
    print(f"{'program':32}{'all':>6}{'good':>6}{'ref.':>6}{'dist.':>6}  {'stop, ms':>14}  "
          f"{'attached, ms':>16}  gained threads/descriptors/mappings", flush=True)
    is_bad = False
    for name, (start, kind) in programs.items():
        if args.programs and not any(x in name for x in args.programs):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                row = attack(build / "gputap", name, start, count_attaches(args, kind, shares),
                             pathlib.Path(folder))
            except attach_targets.Skip as reason:
                print(f"{name:32} skipped: {reason}")
                continue
        show(row)
        is_bad = is_bad or bool(row["wrong"] or row["missing"])
    sys.exit(is_bad)


main()
