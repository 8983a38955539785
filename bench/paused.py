#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the cost of a pause for a program: run bench/paused_cost.c bare and under `gputap run` in
each mode, in turn, TURNS times, and print medians.

    bench/paused.py BUILD [TURNS]"""
import collections
import pathlib
import statistics
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parent.parent
MODES = {
    "bare": [],
    "paused": ["--paused"],
    "window to come": ["--from", "never#1000"],
    "recorded": ["--buffer", "64M"],
}


def build_program(build, path):
    refdev, roctx = build / "soft/refdev", build / "src/compat/roctx"
    subprocess.run([
        "cc", "-O2", f"-I{REPO}", f"-I{REPO}/include", REPO / "bench/paused_cost.c", "-o", path,
        refdev / "librefdev.so.1", f"-L{build}", "-l:libgputap.so.0", f"-L{roctx}",
        "-l:libroctx64.so.4", f"-Wl,-rpath,{refdev}:{build}:{roctx}", "-lOpenCL"
    ], check=True)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        build_program(build, program)
        for _ in range(turns):
            for mode, options in MODES.items():
                command = [build / "gputap", "run", "-q", "-f", "-o", f"{folder}/p.gputap",
                           *options, "--", program] if options else [program]
                said = subprocess.run(command, check=True, text=True, capture_output=True).stdout
                for line in said.splitlines():
                    name, ns = line.split()
                    found[name][mode].append(float(ns))
    print("ns".ljust(20), *(m.rjust(16) for m in MODES))
    for name, by_mode in found.items():
        print(name.ljust(20), *(f"{statistics.median(by_mode[m]):16.2f}" for m in MODES))


main()
