# SPDX-License-Identifier: MIT
"""Calls OpenCL through ctypes, which holds pointers to functions in the heap. Uses every platform.
Joins a session in between, or with a third argument before it opens OpenCL: late_ctypes.py LIBRARY
FOLDER [first]. Prints the names of the calls that it has made since, and at the end the kernels'
counts."""

import ctypes
import sys

LAUNCHES = 10
SOURCE = b"__kernel void add(__global int *a) { a[0]++; }"
attaches_first = len(sys.argv) > 3


def attach():
    assert ctypes.CDLL(sys.argv[1]).gputap_attach(sys.argv[2].encode()) == 0


if attaches_first:
    attach()
cl = ctypes.CDLL("libOpenCL.so.1")
made = []


def call(name, *args, result=ctypes.c_int):
    function = getattr(cl, name)  # ctypes looks a name up once
    function.restype = result
    made.append(name)
    answer = function(*args)
    assert result is not ctypes.c_int or answer == 0, (name, answer)
    return answer


class Device:
    """A device with a queue, a kernel and a buffer."""

    def __init__(self, platform):
        device, error = ctypes.c_void_p(), ctypes.c_int()
        call("clGetDeviceIDs", platform, ctypes.c_ulong(0xFFFFFFFF), 1, ctypes.byref(device), None)
        self.device = device
        self.context = self.make("clCreateContext", None, 1, ctypes.byref(device), None, None)
        self.queue = self.make("clCreateCommandQueue", self.context, device, ctypes.c_ulong(0))
        source = ctypes.c_char_p(SOURCE)
        program = self.make("clCreateProgramWithSource", self.context, 1, ctypes.byref(source),
                            None)
        call("clBuildProgram", program, 0, None, b"", None, None)
        self.kernel = self.make("clCreateKernel", program, b"add")
        self.buffer = self.make("clCreateBuffer", self.context, ctypes.c_ulong(33),
                                ctypes.c_size_t(4), ctypes.byref(ctypes.c_int(0)))
        call("clSetKernelArg", self.kernel, 0, ctypes.c_size_t(8), ctypes.byref(self.buffer))

    def make(self, name, *args):
        error = ctypes.c_int()
        return ctypes.c_void_p(
            call(name, *args, ctypes.byref(error), result=ctypes.c_void_p))

    def run(self):
        one, total = ctypes.c_size_t(1), ctypes.c_int()
        for _ in range(LAUNCHES):
            call("clEnqueueNDRangeKernel", self.queue, self.kernel, 1, None, ctypes.byref(one),
                 None, 0, None, None)
        call("clFinish", self.queue)
        call("clEnqueueReadBuffer", self.queue, self.buffer, 1, ctypes.c_size_t(0),
             ctypes.c_size_t(4), ctypes.byref(total), 0, None, None)
        return total.value

    def renew(self):
        call("clReleaseCommandQueue", self.queue)
        self.queue = self.make("clCreateCommandQueue", self.context, self.device,
                               ctypes.c_ulong(0))


platforms, count = (ctypes.c_void_p * 8)(), ctypes.c_uint()
call("clGetPlatformIDs", 8, platforms, ctypes.byref(count))
devices = [Device(ctypes.c_void_p(p)) for p in platforms[:count.value]]
for d in devices:
    d.run()
    d.renew()
if not attaches_first:
    attach()
    made.clear()
for d in devices:
    d.run()
for d in devices:
    d.renew()
counts = [d.run() for d in devices]
print("\n".join(made))
print(*counts)
