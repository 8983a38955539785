# SPDX-License-Identifier: MIT
"""Run training steps of a transformer with 124 million parameters (12 layers of 768, 12 heads) in
bf16.

    gpu_torch_train.py steps N                            run N steps after two warm-up steps
    gpu_torch_train.py cost eager|compiled R [LIBROCTX64] print us per step in R rounds of 5 steps;
                                                          with the library, every other round is
                                                          paused, and R/2 rounds precede
                                                          recording"""
import ctypes
import json
import sys
import time

import torch
from torch import nn

LAYERS, WIDTH, HEADS, WORDS, LENGTH, BATCH, STEPS = 12, 768, 12, 50304, 1024, 8, 5


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.inner = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                   nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, length, _ = x.shape
        heads = (batch, length, HEADS, WIDTH // HEADS)
        q, k, v = (part.view(heads).transpose(1, 2)
                   for part in self.query(self.before(x)).split(WIDTH, dim=2))
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.inner(self.between(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.last = nn.LayerNorm(WIDTH)

    def forward(self, text, wanted):
        x = self.words(text) + self.places(torch.arange(LENGTH, device=text.device))
        scores = self.last(self.blocks(x)) @ self.words.weight.T
        return nn.functional.cross_entropy(scores.view(-1, WORDS), wanted.view(-1))


library = ctypes.CDLL(sys.argv[4]) if len(sys.argv) > 4 else None
if library:
    library.roctxProfilerPause(ctypes.c_uint64(0))
torch.manual_seed(1)
model = Model().to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
text = torch.randint(WORDS, (BATCH, LENGTH), device="cuda")
run = torch.compile(model) if "compiled" in sys.argv else model


def steps(count):
    """Run @count steps and return us per step, for host and device together."""
    begin = time.perf_counter_ns()
    for _ in range(count):
        loss = run(text, text)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    return (time.perf_counter_ns() - begin) / count / 1000


if sys.argv[1] == "steps":
    steps(2)
    steps(int(sys.argv[2]))
    print(json.dumps({"parameters": sum(p.numel() for p in model.parameters())}))
    sys.exit()
steps(2 * STEPS)
found, rounds = {"on": [], "off": [], "never": []}, int(sys.argv[3])
if library:
    found["never"] = [steps(STEPS) for _ in range(rounds // 2)]
    library.roctxProfilerResume(ctypes.c_uint64(0))
for _ in range(rounds):
    if library:
        library.roctxProfilerPause(ctypes.c_uint64(0))
        steps(1)
        found["off"].append(steps(STEPS))
        library.roctxProfilerResume(ctypes.c_uint64(0))
    steps(1)
    found["on"].append(steps(STEPS))
print(json.dumps(found), flush=True)
