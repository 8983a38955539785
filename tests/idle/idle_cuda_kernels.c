/* SPDX-License-Identifier: MIT */
/* The module of idle_cuda.c. */
#include "soft/cuda/cuda_api.h"
#include "tests/idle/stamps.h"

SOFT_CUDA_KERNEL(nothing, sizeof(int))
{
	(void)arguments;
	(void)at;
}

/* Store the start and end of the kernel. */
SOFT_CUDA_KERNEL(long_one, sizeof(uint64_t *))
{
	uint64_t *stamps = *(uint64_t **)arguments[0];

	(void)at;
	stamps[0] = now_ns();
	sleep_ms(PROVOKED_MS);
	stamps[1] = now_ns();
}
