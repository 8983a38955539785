# SPDX-License-Identifier: MIT
"""launches.py [WAY] enqueues OpenCL fills from known Python functions, through ctypes."""

import ctypes
import functools
import sys
import threading

cl = ctypes.CDLL("libOpenCL.so.1")
for name in ("clCreateContext", "clCreateCommandQueue", "clCreateBuffer"):
    getattr(cl, name).restype = ctypes.c_void_p


def set_up():
    platform, device = ctypes.c_void_p(), ctypes.c_void_p()
    if cl.clGetPlatformIDs(1, ctypes.byref(platform), None):
        sys.exit(77)
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
                           ctypes.c_size_t(0), ctypes.c_size_t(4096), 0, None, None)  # here


class Model:
    def forward(self):
        launch()  # forward

    def grüße(self):
        launch()  # grüße


def generate():
    launch()  # generate
    yield


def through_native(function):
    """Enter the interpreter again from native code."""
    return functools.reduce(lambda _, each: each(), [None, function])  # reduce


def main(way):
    if way == "thread":
        thread = threading.Thread(target=Model().forward)
        thread.start()
        thread.join()
    elif way == "native":
        through_native(Model().forward)
    elif way == "generator":
        list(generate())
    elif way == "letters":
        Model().grüße()
    elif way == "made":
        for number in range(300):  # creates and frees code objects
            made = {"launch": launch}
            exec(compile("\n" * number + "def made(): launch()\nmade()", f"made{number}", "exec"),
                 made)
    else:
        for _ in range(3):
            Model().forward()  # main
    cl.clFinish(queue)


main(sys.argv[1] if len(sys.argv) > 1 else "")
