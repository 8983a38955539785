# SPDX-License-Identifier: MIT
"""Train a small network. Two mistakes make its steps slow. The argument "fast" fixes both mistakes.
The program of the tutorial docs/tutorials/slow-torch-step.md."""
import sys

import numpy
import torch
from torch.profiler import record_function

DEVICE = "cuda" if torch.cuda.is_available() else "refdev" if hasattr(torch, "refdev") else "cpu"
FAST = "fast" in sys.argv
STEPS, BATCH, SIZE = 30, 512, 32

random = numpy.random.default_rng(1)
torch.manual_seed(1)
data = random.random((1000, SIZE), dtype=numpy.float32)
net = torch.nn.Sequential(torch.nn.Linear(SIZE, 64), torch.nn.GELU(), torch.nn.Linear(64, 64),
                          torch.nn.GELU(), torch.nn.Linear(64, SIZE)).to(DEVICE)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def normalise(sample):
    return (sample - sample.mean(-1, keepdims=True)) / sample.std(-1, keepdims=True)


def load():
    """A batch of random samples, half of them reversed."""
    rows, flips = random.integers(len(data), size=BATCH), random.random(BATCH) < 0.5
    if FAST:
        batch = data[rows]
        batch[flips] = batch[flips, ::-1]
        return torch.from_numpy(normalise(batch))
    samples = [data[row][::-1] if flip else data[row] for row, flip in zip(rows, flips)]
    return torch.from_numpy(numpy.stack([normalise(sample) for sample in samples]))


def gradient_norm():
    squares = [p.grad.square().sum() for p in net.parameters()]
    if FAST:
        return torch.stack(squares).sum().sqrt()
    return sum(square.item() for square in squares) ** 0.5


for step in range(STEPS):
    with record_function("step"):
        with record_function("load"):
            batch = load().to(DEVICE)
        with record_function("train"):
            optimizer.zero_grad()
            loss = (net(batch) - batch).square().mean()
            loss.backward()
            optimizer.step()
        if not FAST or step % 10 == 9:
            with record_function("log"):
                print(f"step {step}: loss {loss.item():.4f}, gradient {gradient_norm():.4f}")
