# SPDX-License-Identifier: MIT
"""Measure a jitted training step of a small network in JAX, in us.

    gpu_jax_step.py LIBRARY LEAST GRAPHS

LIBRARY is gpu_core.c, compiled, and LEAST is the result of its gpu_core_least_busy(). GRAPHS is 1
for XLA's default, which launches a step as graphs, and 0 to launch each operation separately.

Each line of standard input requests a measurement of SLICES slices of STEPS steps each. A slice
ends when its last step has completed. The answer is a list of [us per step, state]. The state is
"own", "shared" or "mixed", depending on whether the main thread had its processor core to itself
before and after the slice (bench/measure.h)."""
import ctypes
import json
import os
import sys
import time

library, least, has_graphs = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "1"
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
if not has_graphs:
    os.environ["XLA_FLAGS"] = ("--xla_gpu_enable_command_buffer= " +
                               os.environ.get("XLA_FLAGS", ""))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

LAYERS, WIDTH, STEPS, SLICES, WARM = 16, 256, 20, 5, 10
core = ctypes.CDLL(library)
core.gpu_core_busy.restype = ctypes.c_double
cpus = sorted(os.sched_getaffinity(0))
chosen = cpus[1:6] or cpus  # the main thread uses one of these; the others use the other cpus


def loss(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w) + x
    return (x ** 2).mean()


@jax.jit
def step(weights, x):
    slopes = jax.grad(loss)(weights, x)
    return [w - 0.01 * s for w, s in zip(weights, slopes)]


def run_steps(count):
    global weights
    begin = time.perf_counter_ns()
    for _ in range(count):
        weights = step(weights, x)
    jax.block_until_ready(weights)
    return (time.perf_counter_ns() - begin) / count / 1e3


def choose_core():
    found = []
    for cpu in chosen:
        os.sched_setaffinity(0, {cpu})
        found.append((min(core.gpu_core_busy() for _ in range(3)), cpu))
    os.sched_setaffinity(0, {min(found)[1]})


def classify(before, after):
    if max(before, after) < 1.1 * least:
        return "own"
    return "shared" if min(before, after) > 1.3 * least else "mixed"


def measure():
    slices = []
    choose_core()
    run_steps(WARM)
    for _ in range(SLICES):
        before = core.gpu_core_busy()
        us = run_steps(STEPS)
        slices.append([us, classify(before, core.gpu_core_busy())])
    return slices


def move_threads():
    """Move the other threads off the cores that the main thread chooses from."""
    rest = set(cpus) - set(chosen) or set(cpus)
    for thread in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(thread), rest)
        except OSError:
            pass  # the thread has ended


keys = jax.random.split(jax.random.key(0), LAYERS + 1)
weights = [jax.random.normal(k, (WIDTH, WIDTH)) / WIDTH ** 0.5 for k in keys[1:]]
x = jax.random.normal(keys[0], (64, WIDTH))
run_steps(300)
move_threads()
choose_core()
run_steps(200)
print(json.dumps([]), flush=True)
for _ in sys.stdin:
    print(json.dumps(measure()), flush=True)
