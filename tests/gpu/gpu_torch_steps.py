# SPDX-License-Identifier: MIT
"""Run PyTorch in steps, each in an NVTX range `step`.

    gpu_torch_steps.py N [MORE ...]    run N steps and print a summary

A step loads for 20 ms in a range `load`, while the device is idle, launches x.add_(1.0) 50 times in
train(), and waits for these kernels. MORE is any of:

    slow=K      step K loads ten times as long
    load=MS     each step loads for MS
    long=K      step K also runs a kernel of some 100 ms
    hold=MIB    each step allocates and frees MIB of memory, bypassing PyTorch's cache
    killed      the program ends with SIGKILL"""
import json
import os
import signal
import sys
import time

import torch

KERNELS = 50
LONG_CYCLES = 200_000_000
more = dict((word + "=1").split("=")[:2] for word in sys.argv[2:])
x = torch.ones(64, device="cuda")
spent = {"load": 0, "allocate": 0, "free": 0}


def in_range(what, function, *words):
    begin = time.monotonic_ns()
    with torch.cuda.nvtx.range(what):
        made = function(*words)
    spent[what] += time.monotonic_ns() - begin
    return made


def allocate(count):
    return torch.empty(count, dtype=torch.uint8, device="cuda")


def free(held):
    held.clear()
    torch.cuda.empty_cache()


def train(step):
    for _ in range(KERNELS):
        x.add_(1.0)
    if step == int(more.get("long", 0)):
        torch.cuda._sleep(LONG_CYCLES)
    torch.cuda.synchronize()


def take(step):
    load = int(more.get("load", 20)) / 1000
    in_range("load", time.sleep, load * (10 if step == int(more.get("slow", 0)) else 1))
    if "hold" in more:
        held = [in_range("allocate", allocate, int(more["hold"]) << 20)]
        x.add_(1.0)
        torch.cuda.synchronize()
        in_range("free", free, held)
    train(step)


x.add_(1.0)
torch.cuda.synchronize()
for number in range(1, int(sys.argv[1]) + 1):
    with torch.cuda.nvtx.range("step"):
        take(number)
print(json.dumps({"kernels_of_a_step": KERNELS, "spent_ns": spent,
                  "reserved": torch.cuda.max_memory_reserved()}), flush=True)
if "killed" in more:
    os.kill(os.getpid(), signal.SIGKILL)
