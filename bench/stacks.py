#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure the cost of a call stack: `gputap run --stacks` against `gputap run`, in pairs.

usage: bench/stacks.py [--build DIR] [--pairs N]

Measures each stack depth with one stack and with 1,000 stacks in turn, and calls from Python.
Prints the medians of both sides and the median of the differences within pairs, in ns per
launch.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


# the same calls from Python functions, with ctypes
PYTHON = """
import ctypes, statistics, sys, time
cl = ctypes.CDLL("libOpenCL.so.1")
for name in ("clCreateContext", "clCreateCommandQueue"):
    getattr(cl, name).restype = ctypes.c_void_p
platform, device = ctypes.c_void_p(), ctypes.c_void_p()
cl.clGetPlatformIDs(1, ctypes.byref(platform), None)
cl.clGetDeviceIDs(platform, ctypes.c_uint64(0xffffffff), 1, ctypes.byref(device), None)
context = ctypes.c_void_p(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, None))
queue = ctypes.c_void_p(cl.clCreateCommandQueue(context, device, ctypes.c_uint64(0), None))
fill, times, now = cl.clEnqueueFillBuffer, [], time.perf_counter_ns
def descend(depth):
    if depth:
        return descend(depth - 1)
    begin = now()
    fill(queue, None, None, 1, 0, 1, 0, None, None)
    times.append(now() - begin)
for _ in range(20000):
    descend(int(sys.argv[1]) - 2)
print(statistics.median(times))
"""


def measure(build, folder, options, program):
    done = subprocess.run(
        [build / "gputap", "run", "-q", "-f", *options, "-o", folder / "s.gputap", *program],
        stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--pairs", type=int, default=11)
    arguments = parser.parse_args()
    build = arguments.build
    programs = [(f"{depth} functions, {ways} place{'s' * (ways > 1)}",
                 [build / "bench/stack_cost", str(depth), "20000", str(ways)])
                for depth in (10, 30, 60) for ways in (1, 1000)]
    programs += [(f"{depth} functions of Python's", [sys.executable, "-c", PYTHON, str(depth)])
                 for depth in (5, 20, 50)]
    print(f"{'launched from':28}  without  with  a stack (ns)")
    with tempfile.TemporaryDirectory() as folder:
        for name, program in programs:
            pairs = [[measure(build, pathlib.Path(folder), options, program)
                      for options in ([], ["--stacks"])] for _ in range(arguments.pairs)]
            without, with_stacks = (statistics.median(side) for side in zip(*pairs))
            cost = statistics.median(b - a for a, b in pairs)
            print(f"{name:28}  {without:7.0f}  {with_stacks:4.0f}  {cost:5.0f}", flush=True)


if __name__ == "__main__":
    main()
