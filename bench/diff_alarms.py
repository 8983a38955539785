#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count how often `gputap diff` reports a difference between runs of one program:

    bench/diff_alarms.py BUILD RUNS PROGRAM [ARGUMENT..]

Traces PROGRAM RUNS times in sequence. Then compares 200 random pairs of runs, and 200 random sets
of three runs with three other runs; every call draws the same ones. An alarm is any row that diff
reports as slower or faster. At a level of 5 %, one draw in twenty may have an alarm. Put load on
the machine yourself."""
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

DRAWS = 200
TABLES = ("totals", "devices", "idle", "kernels", "copies", "graphs", "ranges",
          "gpu_by_range", "operations")


def alarms(gputap, before, after):
    out = subprocess.run([gputap, "diff", *before, "--vs", *after, "--json"], check=True,
                         stdout=subprocess.PIPE).stdout
    document = json.loads(out)
    return [f"{table} {row['name']}" for table in TABLES for row in document[table]
            if row["verdict"] in ("slower", "faster")]


def main():
    build, count, *program = sys.argv[1:]
    gputap = os.path.join(build, "gputap")
    with tempfile.TemporaryDirectory() as folder:
        runs = [os.path.join(folder, f"{i}.gputap") for i in range(int(count))]
        for run in runs:
            subprocess.run([gputap, "run", "-q", "-o", run, "--", *program], check=True,
                           stdout=subprocess.DEVNULL)
        random.seed(1)
        for side in (1, 3):
            found, rows = 0, collections.Counter()
            for _ in range(DRAWS):
                drawn = random.sample(runs, 2 * side)
                names = alarms(gputap, drawn[:side], drawn[side:])
                found += bool(names)
                rows.update(names)
            print(f"{side} run{'s' * (side > 1)} a side: {found} of {DRAWS} with an alarm",
                  "; ".join(f"{n} {name}" for name, n in rows.most_common(5)))
    print("load at the end:", *os.getloadavg())


if __name__ == "__main__":
    main()
