# SPDX-License-Identifier: MIT
"""us of a jitted training step of a small network in JAX, the last one waited for.

    gpu_jax_step.py ROUNDS

XLA launches some hundred kernels a step, and builds a text for each where a tool takes its NVTX
ranges. Every round counts: "on" in gpu_costs.py's words."""
import json
import os
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ["XLA_FLAGS"] = "--xla_gpu_enable_command_buffer= " + os.environ.get("XLA_FLAGS", "")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

LAYERS, WIDTH, STEPS = 16, 256, 200


def loss(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w) + x
    return (x ** 2).mean()


@jax.jit
def step(weights, x):
    slopes = jax.grad(loss)(weights, x)
    return [w - 0.01 * s for w, s in zip(weights, slopes)]


def measure():
    global weights
    begin = time.perf_counter_ns()
    for _ in range(STEPS):
        weights = step(weights, x)
    jax.block_until_ready(weights)
    return (time.perf_counter_ns() - begin) / STEPS / 1e3


keys = jax.random.split(jax.random.key(0), LAYERS + 1)
weights = [jax.random.normal(k, (WIDTH, WIDTH)) / WIDTH ** 0.5 for k in keys[1:]]
x = jax.random.normal(keys[0], (64, WIDTH))
for _ in range(2):
    measure()
print(json.dumps({"on": [measure() for _ in range(int(sys.argv[1]))], "off": [], "never": []}))
