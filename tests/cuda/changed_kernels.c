/* SPDX-License-Identifier: MIT */
/* The kernels of changed_program.c: each block takes the given number of microseconds. */
#include <unistd.h>

#include "soft/cuda/cuda_api.h"

#define WORK(name)                                                  \
	SOFT_CUDA_KERNEL(name, sizeof(int))                         \
	{                                                           \
		if (!at->thread_index.x)                            \
			usleep((useconds_t) * (int *)arguments[0]); \
	}

WORK(work_a)
WORK(work_b)
WORK(work_b_v2)
WORK(work_c)
WORK(work_d)
