# SPDX-License-Identifier: MIT
"""The program that tools/try-torch-gpu runs, each time in a new process of the Python that has
torch. The last line of its output is JSON: measurements and counts."""
import argparse
import collections
import contextlib
import ctypes
import gzip
import json
import os
import pathlib
import statistics
import sys
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

REPO = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO / "tests"))
sys.dont_write_bytecode = True
from torch_refdev_program import Block  # noqa: E402

LAYERS, WIDTH, HEADS, BATCH, LENGTH, WORDS = 4, 256, 4, 8, 64, 512
SMALL = {"layers": 1, "width": 32, "batch": 2, "length": 10}  # for a CPU
WARM_UP, TIMED, PROFILED = 5, 30, 5
LAUNCHES = 20  # launches of refdev's kernel in each step, with ctypes
WORK = ("kernel", "gpu_memcpy", "gpu_memset")


class Language(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.blocks = nn.Sequential(*(Block(width, HEADS) for _ in range(layers)))
        self.guess = nn.Linear(width, WORDS)

    def forward(self, x):
        return self.guess(self.blocks(self.words(x)))


class Trainer:
    """A small transformer, its optimizer and its data on one device. Runs only forward if a backend
    is registered in addition to another device: torch treats a registered backend as its only
    accelerator, and autograd then fails an assertion for the other device (2.11)."""

    def __init__(self, device, learns=True):
        self.learns = learns
        size = {"layers": LAYERS, "width": WIDTH, "batch": BATCH, "length": LENGTH}
        self.build(device, **(size if device == "cuda" else SMALL))

    def build(self, device, layers, width, batch, length):
        torch.manual_seed(0)
        self.device = device
        self.net = Language(layers, width).to(device)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=1e-3)
        self.data = torch.randint(0, WORDS, (batch, length + 1)).to(device)

    def step(self):
        with torch.set_grad_enabled(self.learns):
            guess = self.net(self.data[:, :-1]).flatten(0, 1)
            loss = nn.functional.cross_entropy(guess, self.data[:, 1:].flatten())
        if not self.learns:
            return
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def synchronize(self):
        if self.device != "cpu":
            getattr(torch, self.device).synchronize()

    def step_times(self, count):
        """Return the milliseconds of each step, up to its completion on the device."""
        times = []
        for _ in range(count):
            begin = time.perf_counter_ns()
            self.step()
            self.synchronize()
            times.append((time.perf_counter_ns() - begin) / 1e6)
        return times


class Launcher:
    """refdev without a torch backend: kernels launched with ctypes inside an operator."""

    def __init__(self, path):
        class Dim(ctypes.Structure):
            _fields_ = [(n, ctypes.c_uint32) for n in "xyz"]
        self.library = refdev = ctypes.CDLL(path)
        refdev.refdevLaunchKernel.argtypes = [
            ctypes.c_void_p, Dim, Dim, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
        ]
        self.function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda g, a: None)
        self.kernel = ctypes.c_void_p()
        assert not refdev.refdevRegisterKernel(ctypes.byref(self.kernel), b"refdev_saxpy",
                                               self.function)
        one = Dim(1, 1, 1)

        @torch.library.custom_op("gputap_try::launch", mutates_args=())
        def launch(x: torch.Tensor) -> torch.Tensor:
            assert not refdev.refdevLaunchKernel(self.kernel, one, one, None, 0, None)
            return x + 1
        # not the name that the decorator returns: since 2.14 torch records no operator for that
        # name
        self.launch, self.number = torch.ops.gputap_try.launch, torch.ones(1)

    def step(self):
        for _ in range(LAUNCHES):
            self.launch(self.number)

    def synchronize(self):
        self.library.refdevDeviceSynchronize()


# Contents of a trace -------------------------------------------------------------------

def read_trace(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as f:
        return json.load(f)["traceEvents"]


def count_events(events):
    """Return {category: {name: count}} of the events that must be equal with and without gputap."""
    found = collections.defaultdict(collections.Counter)
    for e in events:
        if e.get("ph") == "X" and e.get("cat") in (*WORK, "cuda_runtime", "cuda_driver", "cpu_op"):
            found[e["cat"]][e["name"]] += 1
    return {category: dict(sorted(names.items())) for category, names in found.items()}


def count_links(events):
    """Return for each device the number of its activities, how many have no operator, no call or no
    arrow, and how many are early (started before their calls)."""
    owners = {e["args"]["External id"] for e in events
              if e.get("cat") in ("cpu_op", "user_annotation") and "External id" in e["args"]}
    calls = {e["args"]["correlation"]: e for e in events
             if e.get("cat") in ("cuda_runtime", "cuda_driver", "privateuse1_runtime")
             and e["args"].get("correlation")}
    arrows = collections.Counter((e["ph"], e["id"]) for e in events if e.get("cat") == "ac2g")
    found = collections.defaultdict(collections.Counter)
    for e in events:
        if e.get("ph") != "X" or e.get("cat") not in WORK:
            continue
        of, args = found[e["pid"]], e["args"]
        number = args.get("correlation")
        of["work"] += 1
        of["kernels"] += e["cat"] == "kernel"
        of["no operator"] += args.get("External id") not in owners
        of["no call"] += number not in calls
        of["no arrow"] += arrows["s", number] != 1 or arrows["f", number] < 1
        of["early"] += number in calls and e["ts"] < calls[number]["ts"]
    return {device: dict(counts) for device, counts in sorted(found.items())}


def labels(events):
    """Return the labels of the row of each device that has activities."""
    devices = {e["pid"] for e in events if e.get("ph") == "X" and e.get("cat") in WORK}
    found = {device: [] for device in sorted(devices)}
    for e in events:
        if e.get("name") == "process_labels" and e["pid"] in found:
            found[e["pid"]].append(e["args"]["labels"])
    return found


def device_times(prof):
    """Return the milliseconds in key_averages(), and the device types of kernels."""
    rows = prof.key_averages()
    types = collections.Counter(f"{e.device_type.name} {e.device_index}" for e in prof.events()
                                if e.device_type.name != "CPU")
    return {
        "operators": round(sum(e.self_device_time_total for e in rows
                               if e.device_type.name == "CPU") / 1e3, 3),
        "device rows": round(sum(e.self_device_time_total for e in rows
                                 if e.device_type.name != "CPU") / 1e3, 3),
        "types": dict(types)
    }


# Legs --------------------------------------------------------------------------------

def activities_for(device):
    extra = {"cpu": [], "cuda": [ProfilerActivity.CUDA]}
    return [ProfilerActivity.CPU, *extra.get(device, [ProfilerActivity.PrivateUse1])]


def summary(times):
    return {"median": round(statistics.median(times), 4), "least": round(min(times), 4)}


def profile_model(options):
    """Return the time per step of the model, bare and in torch.profiler's profile, and the counts
    of its trace."""
    if options.bridge:
        import gputap.torch  # noqa: F401
    trainer = Trainer(options.device)
    trainer.step_times(WARM_UP)
    result = {"bare step, ms": summary(trainer.step_times(TIMED))}
    with profile(activities=activities_for(options.device)):  # start not measured
        trainer.step_times(1)
    prof = profile(activities=activities_for(options.device))
    prof.start()
    times = trainer.step_times(PROFILED)
    begin = time.perf_counter_ns()
    prof.stop()
    result["stop, ms"] = round((time.perf_counter_ns() - begin) / 1e6, 3)
    result["profiled step, ms"] = summary(times)
    prof.export_chrome_trace(options.trace)
    events = read_trace(options.trace)
    if options.bridge:
        result["gputap"] = gputap.torch.counts()
    return {**result, "counts": count_events(events), "devices": count_links(events),
            "labels": labels(events), "device time, ms": device_times(prof)}


def may_learn(options):
    return options.way != "backend" or options.device == "cpu"


def profile_together(options):
    """Record the tested device and refdev in one trace."""
    import gputap.torch
    other = (Launcher(options.refdev) if options.way == "ctypes" else Trainer("refdev"))
    trainer = Trainer(options.device, learns=may_learn(options))
    asked = set(activities_for(options.device))
    if options.way == "backend":
        asked |= set(activities_for("refdev"))

    def steps(count):
        for i in range(count):
            with torch.profiler.record_function(f"step {i}"):
                trainer.step()
                other.step()
            trainer.synchronize()
            other.synchronize()

    steps(WARM_UP)
    with gputap.torch.profile(activities=asked) as prof:
        steps(PROFILED)
    prof.export_chrome_trace(options.trace)
    events = read_trace(options.trace)
    return {
        "gputap": gputap.torch.counts(), "devices": count_links(events), "labels": labels(events),
        "launched by ctypes": PROFILED * LAUNCHES if options.way == "ctypes" else None,
        "names": {
            device: sorted({e["name"] for e in events
                            if e.get("cat") == "kernel" and e["pid"] == device})[:4]
            for device in count_links(events)
        },
        "device time, ms": device_times(prof),
    }


def train_model(options):
    """Train for `gputap run`, or without `gputap run`: imports no gputap module."""
    trainer = Trainer(options.device, learns=may_learn(options))
    others = [Trainer("refdev")] if options.way == "backend" else []
    trainer.step_times(WARM_UP)
    times = trainer.step_times(TIMED)
    for other in others:
        other.step_times(PROFILED)
    return {"step, ms": summary(times), "steps": WARM_UP + TIMED}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("leg", choices=["profile", "together", "train"])
    parser.add_argument("--device", required=True)
    parser.add_argument("--trace", default=os.devnull, help="Chrome JSON file to write")
    parser.add_argument("--bridge", action="store_true", help="import gputap.torch")
    parser.add_argument("--way", choices=["backend", "ctypes"], help="how to use refdev")
    parser.add_argument("--refdev", help="librefdev.so.1")
    options = parser.parse_args()
    legs = {"profile": profile_model, "together": profile_together, "train": train_model}
    with contextlib.redirect_stdout(sys.stderr):
        result = legs[options.leg](options)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
