# SPDX-License-Identifier: MIT
"""Defines a kernel in Triton's language."""
import triton
import triton.language as tl


@triton.jit
def add_one(numbers, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(numbers + at, tl.load(numbers + at, mask=inside) + 1, mask=inside)
