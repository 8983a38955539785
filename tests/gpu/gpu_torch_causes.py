# SPDX-License-Identifier: MIT
"""Train a small model of PyTorch whose GPU is idle for one known cause.

    gpu_torch_causes.py CAUSE STEPS

Each step takes a batch from Loader (where the cause is, in wait_for_cause()) and trains on it. The
program prints the cause and its time in ms, without the first steps. CAUSE is one of:

    sleep compute lock condition file pipe socket child faults collector
    items       each step reads 20 values of the GPU one by one
    allocations each step allocates and frees memory, bypassing PyTorch's cache
    pageable    each step copies a batch of 64 MiB of pageable memory
    many        each step launches 400 small kernels"""
import gc
import json
import os
import socket
import subprocess
import sys
import threading
import time

import numpy
import torch

FIRST = 5  # steps that do not count
HOLD = 0.03
cause, steps = sys.argv[1], int(sys.argv[2])
lock, condition, wanted = threading.Lock(), threading.Condition(), threading.Event()
locked = threading.Event()
pipe, answers = os.pipe(), os.pipe()
ends = socket.socketpair()
garbage = []


def hold_lock():
    while True:
        wanted.wait()
        wanted.clear()
        if cause == "lock":
            with lock:
                locked.set()
                time.sleep(HOLD)
        else:
            time.sleep(HOLD)
            with condition:
                condition.notify()


def answer_in_child():
    os.close(pipe[1])  # the end of the program ends the loop
    os.setsid()
    while os.read(pipe[0], 1):
        time.sleep(HOLD)
        os.write(answers[1], b"x")
        ends[1].send(b"x")
    os._exit(0)


def compute():
    end = time.monotonic() + HOLD
    total = 0
    while time.monotonic() < end:
        total += sum(range(100))


def touch_memory():
    end = time.monotonic() + HOLD
    while time.monotonic() < end:
        numpy.zeros(4 << 20, dtype=numpy.uint8).fill(1)


def make_garbage(count):
    for _ in range(count):
        ring = []
        ring.append(ring)
        garbage.append(ring)


def read_file(path):
    end = time.monotonic() + HOLD
    while time.monotonic() < end:
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        while os.read(descriptor, 1 << 20) and time.monotonic() < end:
            pass
        os.close(descriptor)


def wait_for_cause():
    if cause == "sleep":
        time.sleep(HOLD)
    elif cause == "compute":
        compute()
    elif cause == "lock":
        locked.clear()
        wanted.set()
        locked.wait()
        with lock:
            pass
    elif cause == "condition":
        with condition:
            wanted.set()
            condition.wait()
    elif cause == "file":
        read_file(FILE)
    elif cause == "pipe":
        os.write(pipe[1], b"x")
        os.read(answers[0], 1)
    elif cause == "socket":
        os.write(pipe[1], b"x")
        ends[0].recv(1)
    elif cause == "child":
        subprocess.run(["sleep", str(HOLD)], check=True)
    elif cause == "faults":
        touch_memory()
    elif cause == "collector":
        gc.collect()


class Loader:
    def __iter__(self):
        self.spent = 0.0
        for step in range(steps):
            begin = time.monotonic()
            wait_for_cause()
            if step >= FIRST:
                self.spent += time.monotonic() - begin
            yield self.batch


def train(model, optimiser, batch):
    loss = model(batch.cuda()).square().mean()
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    return loss


def step_more(values):
    begin = time.monotonic()
    if cause == "items":
        for i in range(20):
            values[i].add_(1).item()
    elif cause == "allocations":
        for _ in range(4):
            torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
            torch.cuda.empty_cache()
            values.add_(1)
    elif cause == "pageable":
        PAGEABLE.cuda()
    elif cause == "many":
        for _ in range(400):
            values.add_(1)
    torch.cuda.synchronize()
    return time.monotonic() - begin


FILE = os.path.join(os.getcwd(), "numbers.bin")
if cause == "file":
    with open(FILE, "wb") as out:
        out.write(os.urandom(64 << 20))
        out.flush()
        os.fsync(out.fileno())
gc.disable()
if cause == "collector":
    make_garbage(100)
    keep = [[i] for i in range(1500000)]
if cause in ("pipe", "socket"):
    child = os.fork()
    if not child:
        answer_in_child()
threading.Thread(target=hold_lock, name="holder", daemon=True).start()
PAGEABLE = torch.ones(16 << 20) if cause == "pageable" else None
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 8))
model.cuda()
optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
values = torch.zeros(64, device="cuda")
loader = Loader()
loader.batch = torch.ones(64, 512)
more = 0.0
for number, batch in enumerate(loader):
    train(model, optimiser, batch)
    spent = step_more(values)
    more += spent if number >= FIRST else 0
torch.cuda.synchronize()
print(json.dumps({"cause": cause, "loader_ms": loader.spent * 1000, "more_ms": more * 1000}))
