# SPDX-License-Identifier: MIT
"""Runs one SYCL program on two devices through two back ends, OpenCL and Level Zero. Prints for
each back end whether the sums are right."""
import dpctl
import dpnp
import numpy

ones = numpy.arange(1000, dtype=numpy.float32)
for name in ("opencl:cpu", "level_zero:gpu"):
    queue = dpctl.SyclQueue(name)
    sums = dpnp.cumsum(dpnp.array(ones, sycl_queue=queue) * 2)
    right = numpy.allclose(dpnp.asnumpy(sums), numpy.cumsum(ones * 2))
    print(queue.sycl_device.backend, "right" if right else "wrong")
