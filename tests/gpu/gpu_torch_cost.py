# SPDX-License-Identifier: MIT
"""Measure the host time of x.add_(1.0) on 64 numbers in ns, in bursts of 300 while the device keeps
up.

    gpu_torch_cost.py ROUNDS [none | pause LIBROCTX64 | cupti LIBRARY | kineto]

In every other round, recording is off: it is paused, CUPTI is finalised, or Kineto has no session.
Rounds before recording has begun for the first time are listed as "never"."""
import contextlib
import ctypes
import json
import os
import resource
import sys
import time

import torch

BURSTS, BURST = 4, 300
rounds, way = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "none"
library = ctypes.CDLL(sys.argv[3], mode=ctypes.RTLD_GLOBAL) if len(sys.argv) > 3 else None


def settle():
    """Pin the main thread to its own processor, and all other threads to the remaining
    processors."""
    main, processors = os.getpid(), sorted(os.sched_getaffinity(os.getpid()) | everywhere)
    own = processors[len(processors) // 2]
    rest = set(processors) - {own}
    for thread in map(int, os.listdir("/proc/self/task")):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(thread, {own} if thread == main or not rest else rest)


def measure():
    total = 0
    for _ in range(BURSTS):
        begin = time.perf_counter_ns()
        for _ in range(BURST):
            add(1.0)
        total += time.perf_counter_ns() - begin
        torch.cuda.synchronize()
    return total / (BURSTS * BURST)


def switch(on):
    if way == "pause":
        (library.roctxProfilerResume if on else library.roctxProfilerPause)(ctypes.c_uint64(0))
    elif way == "cupti":
        (library.gpu_cupti_start if on else library.gpu_cupti_stop)()


def leave_off():
    """Pause recording before CUDA is initialised."""
    if way == "pause":
        switch(False)


def round_of(on):
    profiler = contextlib.nullcontext()
    if way == "kineto" and on:
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
    with profiler:
        settle()
        measure()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        time_ns = measure()
        if on:
            faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
        return time_ns


everywhere, faults = os.sched_getaffinity(0), []
found = {"on": [], "off": [], "never": []}
leave_off()
x = torch.ones(64, device="cuda")
add = x.add_
for _ in range(3000):
    add(1.0)
torch.cuda.synchronize()
settle()
if way != "none":
    found["never"] = [round_of(False) for _ in range(rounds)]
    switch(True)
for _ in range(rounds):
    if way != "none":
        switch(False)
        found["off"].append(round_of(False))
        switch(True)
    found["on"].append(round_of(True))
print(json.dumps({**found, "faults": sum(faults) / rounds}), flush=True)
