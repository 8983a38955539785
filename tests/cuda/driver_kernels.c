/* SPDX-License-Identifier: MIT */
/* A module for the software driver. */
#include <unistd.h>

#include "soft/cuda/cuda_api.h"

__attribute__((visibility("default"))) int launches_seen = 0;

static unsigned find_index(const struct soft_cuda_position *at)
{
	return at->block_index.x * at->block_dim.x + at->thread_index.x;
}

SOFT_CUDA_KERNEL(add_numbers, sizeof(int *), sizeof(int), sizeof(int))
{
	int *numbers = *(int **)arguments[0];
	const unsigned i = find_index(at);

	if (i == 0)
		launches_seen++;
	if (i < *(unsigned *)arguments[1])
		numbers[i] += *(int *)arguments[2];
}

/* In each block, add the numbers of neighbouring threads through shared memory. */
SOFT_CUDA_BLOCK_KERNEL(sum_block, sizeof(int *))
{
	int *sums = *(int **)arguments[0], *shared = at->shared;
	const unsigned i = at->thread_index.x;

	shared[i] = (int)i + 1;
	SOFT_CUDA_SYNCHRONIZE();
	for (unsigned step = at->block_dim.x / 2; step; step /= 2) {
		if (i < step)
			shared[i] += shared[i + step];
		SOFT_CUDA_SYNCHRONIZE();
	}
	if (i == 0)
		sums[at->block_index.x] = shared[0];
}

/* One thread of the block faults while the other threads wait. */
SOFT_CUDA_BLOCK_KERNEL(fault_block, sizeof(int *))
{
	if (at->thread_index.x == 3)
		**(int **)arguments[0] = 1;
	SOFT_CUDA_SYNCHRONIZE();
}

SOFT_CUDA_KERNEL(fault, sizeof(int *))
{
	**(int **)arguments[0] = 1;
}

/* Make every block take the given number of microseconds. */
SOFT_CUDA_KERNEL(nap, sizeof(int))
{
	if (!at->thread_index.x)
		usleep((useconds_t) * (int *)arguments[0]);
}
