/* SPDX-License-Identifier: MIT */
/* A kernel's run: its function, once for each thread of each block. */
#include <stdlib.h>
#include <string.h>

#include "soft/cuda/cuda_parts.h"

static void run_block(const struct soft_cu_task *t, struct soft_cuda_position *p)
{
	if (p->shared)
		memset(p->shared, 0, t->shared);
	for (unsigned z = 0; z < p->block_dim.z; z++)
		for (unsigned y = 0; y < p->block_dim.y; y++)
			for (unsigned x = 0; x < p->block_dim.x; x++) {
				p->thread_index.x = x;
				p->thread_index.y = y;
				p->thread_index.z = z;
				t->function->call(p, t->arguments);
			}
}

/* NEEDSWORK: a block's threads run one after the other, so that kernels with barriers cannot. */
int soft_cu_run_kernel(const struct soft_cu_task *t)
{
	struct soft_cuda_position p = t->position;

	if (soft_cu_fails(SOFT_CU_FAIL_KERNEL))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	p.shared = t->shared ? malloc(t->shared) : NULL;
	for (p.block_index.z = 0; p.block_index.z < p.grid_dim.z; p.block_index.z++)
		for (p.block_index.y = 0; p.block_index.y < p.grid_dim.y; p.block_index.y++)
			for (p.block_index.x = 0; p.block_index.x < p.grid_dim.x; p.block_index.x++)
				run_block(t, &p);
	free(p.shared);
	return CUDA_SUCCESS;
}
