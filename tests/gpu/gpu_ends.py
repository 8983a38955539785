# SPDX-License-Identifier: MIT
"""Check all ways in which a program can end: the capture contains everything that the device
completed, and the program behaves and prints as it does without gputap."""

import os
import shutil
import signal

from gpu_harness import Missing, check

WAYS = {
    "exit": 0,
    "_exit": 0,
    "_exit_at_once": 0,
    "kill": -signal.SIGKILL,
    "abort": -signal.SIGABRT,
    "fault": 0,
    "destroy": 0,
    "reset": 0,
    "fork": 0,
}


def shell_status(status):
    return status if status >= 0 else 128 - status


def try_end(machine, what, command, status):
    """Run the program untraced and traced, compare output and status, and return the capture."""
    bare = machine.run(command, 60, status=None)
    capture = machine.trace(command, seconds=60, status=None)
    same = (shell_status(bare.returncode), bare.stdout) == (shell_status(capture.status),
                                                            capture.out)
    machine.report.judge(f"{what}: output and status as without gputap",
                         f"{shell_status(bare.returncode)} and {shell_status(capture.status)}",
                         same and shell_status(status) == shell_status(capture.status))
    return capture


def make_check(way, status):
    def ends(machine):
        count = "200" if machine.quick else "20000"
        capture = try_end(machine, way, machine.program("end", count, way), status)
        kernels = capture.kernels("tiny") + capture.kernels("second")
        seen, wanted = capture.report(), capture.said["kernels"]
        if way == "_exit_at_once":  # records not delivered in time count as lost
            machine.report.judge(f"{way}: recorded kernels, lost kernels",
                                 f"{kernels:,}, {seen['dropped']:,} of {wanted:,}",
                                 kernels + seen["dropped"] == wanted)
            return
        machine.report.equal(f"{way}: kernels", kernels, wanted)
        work, lost = seen["activities"], seen["dropped"]
        most = 1 if way == "fault" else 0  # the kernel that faulted may be lost
        machine.report.judge(f"{way}: linked; dropped", f"{seen['linked']:,} of {work:,}; {lost}",
                             seen["linked"] == work and lost <= most)

    ends.__name__ = way
    ends.__doc__ = f"A program that ends by {way}."
    check("ends")(ends)


for name, expected in WAYS.items():
    make_check(name, expected)


@check("ends")
def cudart_reset(machine):
    """Call cudaDeviceReset() of a static cudart, then other functions."""
    capture = try_end(machine, "cudaDeviceReset", machine.runtime_program("static", "reset"), 0)
    machine.report.equal("kernels", capture.kernels("add_one"), capture.said["kernels"])


@check("ends")
def mps(machine):
    """Run under the Multi-Process Service. If GPU_MPS=1 is set, the check may start the service."""
    machine.need_gpu()
    control = shutil.which("nvidia-cuda-mps-control")
    if not control or os.environ.get("GPU_MPS") != "1":
        raise Missing("needs GPU_MPS=1 and nvidia-cuda-mps-control")
    folders = {f"CUDA_MPS_{name}_DIRECTORY": machine.work / name for name in ("PIPE", "LOG")}
    for folder in folders.values():
        folder.mkdir()
    machine.run([control, "-d"], 30, folders)
    try:
        capture = machine.trace(machine.program("count", "20000"), env=folders, seconds=60)
    finally:
        machine.run(["sh", "-c", f"echo quit | {control}"], 30, folders, status=None)
    machine.report.equal("kernels", capture.kernels("tiny"), capture.said["kernels"])
    machine.report.equal("linked", capture.report()["linked"], capture.said["kernels"])
