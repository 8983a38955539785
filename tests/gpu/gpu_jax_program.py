# SPDX-License-Identifier: MIT
"""Runs JAX: compiled functions, a gradient, memcpys."""
import json
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402


@jax.jit
def step(x, y):
    return jnp.tanh(x @ y) + 1


x = jnp.ones((128, 128))
for _ in range(50):
    x = step(x, x)
slope = jax.jit(jax.grad(lambda v: (v ** 2).sum()))
for _ in range(20):
    slope(x).block_until_ready()
print(json.dumps({"sum": float(x.sum())}))
