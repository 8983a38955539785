# SPDX-License-Identifier: MIT
"""Run one process per GPU. Each process adds on its own device, and all processes reduce together.

    gpu_torch_ranks.py RANKS [LATE MS]      rank LATE sleeps MS before each all-reduce
"""
import json
import multiprocessing
import os
import socket
import sys
import time

ALL_REDUCES = 50


def rank(index, ranks, port, late_ms):
    import torch
    import torch.distributed as dist
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(ranks))
    torch.cuda.set_device(index)
    dist.init_process_group("nccl")
    numbers = torch.ones(100000, device="cuda")
    for _ in range(ALL_REDUCES):
        if late_ms:
            torch.cuda.synchronize()
            time.sleep(late_ms / 1e3)
        dist.all_reduce(numbers)
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    count = int(sys.argv[1])
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    start = multiprocessing.get_context("spawn")
    late, ms = (int(sys.argv[2]), float(sys.argv[3])) if len(sys.argv) > 3 else (-1, 0)
    processes = [start.Process(target=rank, args=(i, count, number, ms * (i == late)))
                 for i in range(count)]
    for i, process in enumerate(processes):
        os.environ["RANK"] = str(i)  # inherited by the started process
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        sys.exit(3)
    print(json.dumps({"all_reduces": ALL_REDUCES}))
