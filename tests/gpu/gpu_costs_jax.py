# SPDX-License-Identifier: MIT
"""Measure the cost of gputap for a step of JAX, to within 1 or 2 %.
The speed of processes that run one after another differs by 25 % on such machines, mostly because
the second hardware thread of their core is busy for some milliseconds. Therefore the processes of
all modes of a round run at the same time and are measured alternately, in slices of some 10 ms.
Figures come from slices in which the core was not shared."""

import ctypes
import json
import math
import os
import random
import select
import statistics
import subprocess

from gpu_costs import ALL_WORK
from gpu_harness import Broken, check, show_spread

JAX_SHARE = 0.05
FEWEST = 4  # minimum number of slices of a mode in a round
READY_S, ANSWER_S, END_S = 150, 30, 60


class Worker:
    """A process of gpu_jax_step.py. It runs untraced if @options is None, and otherwise under
    `gputap run` with these options."""

    def __init__(self, machine, command, options, env):
        if options is None:
            line, env = command, {**machine.plain, **env}
        else:
            line = machine.traced_command(machine.next_path(), command, options, env)
            machine.count += 1
            env = {**machine.plain, **machine.own}
        self.child = subprocess.Popen([str(word) for word in line], text=True, cwd=machine.work,
                                      env={k: str(v) for k, v in env.items()},
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, start_new_session=True)

    def read(self, seconds):
        if not select.select([self.child.stdout], [], [], seconds)[0]:
            raise Broken(f"no answer within {seconds} s")
        line = self.child.stdout.readline()
        if not line:
            raise Broken("a process ended early")
        return json.loads(line)

    def measure(self):
        self.child.stdin.write("measure\n")
        self.child.stdin.flush()
        return self.read(ANSWER_S)

    def end(self):
        self.child.stdin.close()

    def wait(self):
        try:
            self.child.wait(END_S)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


def run_round(machine, command, modes, turns):
    """Run one process of each mode at the same time and return {mode: slices}."""
    found, workers = {name: [] for name in modes}, []
    try:
        for name in random.sample(list(modes), len(modes)):
            workers.append((name, Worker(machine, command, *modes[name])))
        for _, worker in workers:
            worker.read(READY_S)
        for _ in range(turns):
            for name, worker in random.sample(workers, len(workers)):
                found[name] += worker.measure()
    finally:
        for _, worker in workers:
            worker.end()
        for _, worker in workers:
            worker.wait()
        for path in machine.work.glob("*.gputap"):
            path.unlink()
    return found


def median_of(found, names):
    """Return the median of a round's slices with an unshared core, or None if there are fewer than
    FEWEST such slices."""
    own = [us for name in names for us, state in found[name] if state == "own"]
    return statistics.median(own) if len(own) >= FEWEST else None


def find_least(machine):
    """Return (path of the library built from gpu_core.c, smallest result of gpu_core_least_busy()
    on several processors)."""
    library = machine.compile_c("gpu_core.so", "gpu_core.c", "-shared", "-fPIC")
    core, before = ctypes.CDLL(library), os.sched_getaffinity(0)
    core.gpu_core_least_busy.restype = ctypes.c_double
    least = min(core.gpu_core_least_busy(cpu) for cpu in sorted(before)[1:6] or before)
    os.sched_setaffinity(0, before)
    return library, f"{least:.4f}"


def interval_of_median(values):
    """Return an interval that contains the median in 95 of 100 cases. For few values, return the
    smallest and the largest value."""
    values, count, below = sorted(values), len(values), 0
    while sum(math.comb(count, i) for i in range(below + 2)) * 2 <= 0.05 * 2 ** count:
        below += 1
    return values[below], values[-1 - below]


def compare(machine, rounds, names, with_names):
    """Report the difference between two modes, and return the median difference as a share."""
    pairs = [(median_of(found, names), median_of(found, with_names)) for found in rounds]
    pairs = [(a, b) for a, b in pairs if a and b]
    if len(pairs) < 2:
        raise Broken("too few slices had their own core")
    shares = [a / b - 1 for a, b in pairs]
    least, most = interval_of_median(shares)
    machine.report.say(f"{names[0]} over {with_names[0]}",
                       f"{statistics.median(a - b for a, b in pairs):+.1f} us, "
                       f"{statistics.median(shares):+.1%} ({least:+.1%} to {most:+.1%})")
    return statistics.median(shares)


def measure_step(machine, has_graphs):
    machine.need_gpu()
    library, least = find_least(machine)
    command = machine.script("gpu_jax_step.py", library, least, int(has_graphs), needs=["jax"])
    cache = {"JAX_COMPILATION_CACHE_DIR": machine.programs / "jax",
             "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
             "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    alone = {"CUDA_INJECTION64_PATH": machine.cupti_user(), "GPU_CUPTI": machine.cupti()}
    modes = {"bare": (None, {}), "bare, again": (None, {}), "-d opencl": (["-d", "opencl"], {}),
             "--paused": (["--paused"], {}), "--no-device": (["--no-device"], {}),
             "--no-device --no-args": (["--no-device", "--no-args"], {}),
             "default": ([], {}), "--mode lite": (["--mode", "lite"], {}),
             "CUPTI alone": (None, {**alone, "GPU_CUPTI_KINDS": ALL_WORK}),
             "CUPTI graph spans alone": (None, {**alone, "GPU_CUPTI_KINDS": "10,51"}),
             "with XLA's ranges, --no-device": (["-d", "cuda_driver,nvtx", "--no-device"], {})}
    modes = {name: (options, {**env, **cache}) for name, (options, env) in modes.items()}
    run_round(machine, command, {"bare": modes["bare"]}, 1)  # fills the cache
    rounds = [run_round(machine, command, modes, 8) for _ in range(3 if machine.quick else 10)]
    bare = ["bare", "bare, again"]
    slices = [us for found in rounds for name in bare for us, state in found[name]
              if state == "own"]
    if not slices:
        raise Broken("no slice had its own core")
    machine.report.say("bare", show_spread(slices, "us"))
    compare(machine, rounds, bare[1:], bare[:1])
    for name in list(modes)[2:]:
        share = compare(machine, rounds, [name], bare)
        if name in ("-d opencl", "--paused", "--no-device"):
            machine.report.promise(f"{name}: at most {JAX_SHARE:.0%} over bare", f"{share:+.2%}",
                                   share <= JAX_SHARE)
    compare(machine, rounds, ["default"], ["CUPTI alone"])


@check("costs")
def jax_step(machine):
    """Measure a jitted step of JAX that launches each operation separately."""
    measure_step(machine, False)


@check("costs")
def jax_graph_step(machine):
    """Measure a jitted step of JAX that launches graphs, XLA's default."""
    measure_step(machine, True)
