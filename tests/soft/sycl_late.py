# SPDX-License-Identifier: MIT
"""A SYCL program to which gputap attaches while it runs: sycl_late.py LIBGPUTAP FOLDER. Runs some
additions before the attach, and 20 additions and 3 copies to the host afterwards. Prints the
result of the attach and the sum."""
import ctypes
import sys

import dpctl
import dpnp

queue = dpctl.SyclQueue(dpctl.select_default_device(), property="in_order")
x = dpnp.zeros(1000, dtype=dpnp.float32, sycl_queue=queue)
y = dpnp.ones(1000, dtype=dpnp.float32, sycl_queue=queue)


def add(times):
    for _ in range(times):
        dpnp.add(x, y, out=x)
    queue.wait()


add(3)
dpnp.asnumpy(x)
status = ctypes.CDLL(sys.argv[1]).gputap_attach(sys.argv[2].encode())
add(20)
for _ in range(3):
    numbers = dpnp.asnumpy(x)
print(status, numbers.sum())
