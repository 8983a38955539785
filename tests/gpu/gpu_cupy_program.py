# SPDX-License-Identifier: MIT
"""Runs CuPy: elementwise kernels, a raw kernel, a matrix product, memcpys, a stream."""
import json

import cupy

raw = cupy.RawKernel('extern "C" __global__ void twice(float *a) { a[threadIdx.x] *= 2; }', "twice")
numbers = cupy.arange(1000, dtype=cupy.float32)
for _ in range(100):
    numbers = numbers + 1
    raw((1,), (256,), (numbers,))
square = cupy.ones((64, 64), dtype=cupy.float32)
for _ in range(20):
    square @ square
with cupy.cuda.Stream(non_blocking=True) as stream:
    cupy.asarray(list(range(100))).sum()
    stream.synchronize()
cupy.asnumpy(numbers)
cupy.cuda.Device().synchronize()
print(json.dumps({"raw": 100}))
