#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the CPU time that a report spends on its tables and an export spends on the idle track,
in pairs.

    bench/report_cost.py [--build build] [--calls N] [--runs N] [--other GPUTAP]

tests/synth writes the capture. Nearly every GPU activity in it ends a gap, which is the most costly
case for idle time. --other: an older gputap, whose reports are also compared. Prints the minimum
and the median of each time, and the median of the ratios within pairs.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

ALL = ("operations,ranges,operators,failures,kernels,copies,other,memory,graphs,devices,idle,gaps,"
       "latency,processes,threads,loss")
REST = ",".join(t for t in ALL.split(",") if t not in ("idle", "gaps"))


def measure(words):
    """Return seconds of CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(name, first, second, runs):
    pairs = [(measure(first), measure(second)) for _ in range(runs)]
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"{name}: least {min(a for a, _ in pairs):.3f} and {min(b for _, b in pairs):.3f} s, "
          f"medians {statistics.median(a for a, _ in pairs):.3f} and "
          f"{statistics.median(b for _, b in pairs):.3f} s, in pairs x{ratio:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default="build")
    parser.add_argument("--calls", type=int, default=2933333)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--other")
    a = parser.parse_args()
    gputap = a.build / "gputap"
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(folder, "c.gputap")
        subprocess.run([a.build / "tests/synth/synth", "--calls", str(a.calls), "-o", capture],
                       check=True)

        def report(tables, program=gputap):
            return [program, "report", capture, *(("-t", tables) if tables else ())]
        compare("idle and gaps: all other tables, all", report(REST), report(ALL), a.runs)
        compare("kernels alone: all, kernels", report(None), report("kernels"), a.runs)
        compare("operations alone: all, operations", report(None), report("operations"), a.runs)
        if a.other:
            compare("since the other gputap: its operations, ours",
                    report("operations", a.other), report("operations"), a.runs)
            compare("since the other gputap: its report, ours without idle and gaps",
                    report(None, a.other), report(REST), a.runs)


main()
