# SPDX-License-Identifier: MIT
"""Run a little of each kind of work that PyTorch does on a GPU. The last line of output lists the
parts that ran and the parts that failed."""
import json
import os
import socket

import torch

DEVICE, TIMES = "cuda", 50
ran, failed = [], {}


def part(function):
    try:
        function()
        torch.cuda.synchronize()
        ran.append(function.__name__)
    except Exception as why:  # a missing library can cause any exception
        failed[function.__name__] = repr(why)[:200]
    return function


@part
def eager():
    x, y = torch.randn(256, 256, device=DEVICE), torch.randn(256, 256, device=DEVICE)
    for _ in range(TIMES):
        x.add_(1e-3)
        x @ y


@part
def copies():
    pinned = torch.randn(1024).pin_memory()
    pinned.to(DEVICE, non_blocking=True)
    torch.randn(1000).to(DEVICE).cpu()


@part
def cudnn():
    layer = torch.nn.Conv2d(3, 8, 3).to(DEVICE)
    layer(torch.randn(2, 3, 32, 32, device=DEVICE)).sum().backward()


@part
def compiled():
    @torch.compile
    def function(x, y):
        return torch.nn.functional.gelu(x * y + 1) - x

    x = torch.randn(4096, device=DEVICE)
    for _ in range(TIMES):
        x = function(x, x)


@part
def triton():
    import gpu_triton_kernel
    memory = torch.zeros(1 << 16, device=DEVICE)
    for _ in range(TIMES):
        gpu_triton_kernel.add_one[(4,)](memory, 4096, BLOCK=1024)


@part
def nccl():
    import torch.distributed as dist
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK="0", WORLD_SIZE="1")
    dist.init_process_group("nccl")
    numbers = torch.ones(1000, device=DEVICE)
    for _ in range(10):
        dist.all_reduce(numbers)
    torch.cuda.synchronize()
    dist.destroy_process_group()


@part
def graph():
    x = torch.randn(256, 256, device=DEVICE)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            x @ x
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        y = x @ x
        y.add_(1)
    for _ in range(20):
        captured.replay()


print(json.dumps({"ran": ran, "not": failed}), flush=True)
