# SPDX-License-Identifier: MIT
"""sampled.py enqueues OpenCL fills through ctypes and waits in known functions in between."""

import ctypes
import time

cl = ctypes.CDLL("libOpenCL.so.1")
for name in ("clCreateContext", "clCreateCommandQueue", "clCreateBuffer"):
    getattr(cl, name).restype = ctypes.c_void_p


def set_up():
    platform, device = ctypes.c_void_p(), ctypes.c_void_p()
    cl.clGetPlatformIDs(1, ctypes.byref(platform), None)
    cl.clGetDeviceIDs(platform, ctypes.c_uint64(0xffffffff), 1, ctypes.byref(device), None)
    context = ctypes.c_void_p(
        cl.clCreateContext(None, 1, ctypes.byref(device), None, None, None))
    queue = ctypes.c_void_p(cl.clCreateCommandQueue(context, device, ctypes.c_uint64(0), None))
    buffer = ctypes.c_void_p(
        cl.clCreateBuffer(context, ctypes.c_uint64(1), ctypes.c_size_t(4096), None, None))
    return queue, buffer


queue, buffer = set_up()


def launch():
    zero = ctypes.c_char(0)
    cl.clEnqueueFillBuffer(queue, buffer, ctypes.byref(zero), ctypes.c_size_t(1),
                           ctypes.c_size_t(0), ctypes.c_size_t(4096), 0, None, None)
    cl.clFinish(queue)


class Loader:
    def __iter__(self):
        for item in range(10):
            time.sleep(0.02)  # load
            yield item


def work():
    total = 0
    for i in range(400000):
        total += i * i  # work
    return total


def main():
    for _ in Loader():
        launch()
        work()


main()
