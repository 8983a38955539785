# SPDX-License-Identifier: MIT
"""Run x.add_(1.0) with and without torch.profiler, and print the activities that Kineto received.
With `first`, the profiler starts before CUDA is initialised."""
import json
import sys

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
launched, profiled, kineto = 0, {}, {}
state = {}


def add(times):
    global launched
    if "x" not in state:
        state["x"] = torch.ones(64, device="cuda")
    for _ in range(times):
        state["x"].add_(1.0)
    launched += times
    torch.cuda.synchronize()


def session(name, work, wanted, activities=None):
    with profile(activities=activities or BOTH) as profiler:
        work()
    profiled[name] = wanted
    kineto[name] = sum("CUDAFunctorOnSelf_add" in event.name for event in profiler.events()
                       if event.device_type == DeviceType.CUDA)


def graph_session():
    """Launch a graph of 10 kernels 50 times. The profiler is active for 20 of the launches."""
    global launched
    side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(side):
        state["x"].add_(1.0)
    launched += 1
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(10):
            state["x"].add_(1.0)

    def replay(times):
        for _ in range(times):
            graph.replay()
        torch.cuda.synchronize()

    replay(30)
    session("graph", lambda: replay(20), 200)
    launched += 500


if sys.argv[1] == "first":
    session("before CUDA", lambda: add(500), 500)
add(2000)
session("second", lambda: add(3000), 3000)
add(4000)
session("third", lambda: add(1000), 1000)
session("CUDA alone", lambda: add(700), 700, [ProfilerActivity.CUDA])
add(500)
graph_session()
add(100)
print(json.dumps({"launched": launched, "profiled": profiled, "kineto": kineto}))
