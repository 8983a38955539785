/* SPDX-License-Identifier: MIT */
/* gpu_kernels.cu for the software driver. */
#include <time.h>

#include "soft/cuda/cuda_api.h"

SOFT_CUDA_KERNEL(tiny, sizeof(int *))
{
}

SOFT_CUDA_KERNEL(second, sizeof(int *))
{
}

SOFT_CUDA_KERNEL(spin, sizeof(long long))
{
	const struct timespec pause = {0, *(long long *)arguments[0]};

	nanosleep(&pause, NULL);
}

SOFT_CUDA_KERNEL(fault, sizeof(int *))
{
	**(int **)arguments[0] = 1;
}
