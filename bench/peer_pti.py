# SPDX-License-Identifier: MIT
"""peer_pti.py TRIALS: measure a dpnp kernel with any tool or none. bench/run.py runs this program
like peer_pti. Each trial runs 200 kernels. Prints "kernel_us", the us per kernel in the fastest
trial."""
import sys
import time

import dpctl
import dpnp

KERNELS = 200

queue = dpctl.SyclQueue(dpctl.select_default_device(), property="in_order")
data = dpnp.ones(64, dtype=dpnp.float32, sycl_queue=queue)
out = dpnp.empty_like(data)


def run_trial():
    begin = time.perf_counter()
    for _ in range(KERNELS):
        dpnp.add(data, data, out=out)
    queue.wait()
    return (time.perf_counter() - begin) / KERNELS * 1e6


run_trial()
print("kernel_us", min(run_trial() for _ in range(int(sys.argv[1]))), "us")
