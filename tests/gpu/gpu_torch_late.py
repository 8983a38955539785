# SPDX-License-Identifier: MIT
"""Run PyTorch in a session that starts paused and records one window in the middle of the run.

    gpu_torch_late.py FOLDER

Prints the host time of x.add_(1.0) in the pause, just after the recording window, and 2 s later.
Creates "ready" in FOLDER and waits for "started", launches x.mul_(1.5) 1,000 times, creates "done"
and waits for "stopped"."""
import pathlib
import statistics
import sys
import time

import torch

BURSTS, BURST, COUNT = 40, 300, 1000
folder = pathlib.Path(sys.argv[1])
x = torch.ones(64, device="cuda")


def measure():
    found = []
    for _ in range(BURSTS):
        begin = time.perf_counter_ns()
        for _ in range(BURST):
            x.add_(1.0)
        found.append((time.perf_counter_ns() - begin) / BURST)
        torch.cuda.synchronize()
    return statistics.median(found)


def wait_for(name):
    while not (folder / name).exists():
        x.add_(1.0)  # keep launching while waiting
        time.sleep(0.001)
    torch.cuda.synchronize()


for _ in range(10):
    measure()
print(f"before {measure():.0f} ns", flush=True)
if folder.is_dir():
    (folder / "ready").touch()
    wait_for("started")
    for _ in range(COUNT):
        x.mul_(1.5)
    torch.cuda.synchronize()
    (folder / "done").touch()
    wait_for("stopped")
    print(f"just behind {measure():.0f} ns", flush=True)
    until = time.monotonic() + 2  # a launch after one second removes CUPTI
    while time.monotonic() < until:
        measure()
    print(f"behind {measure():.0f} ns", flush=True)
