/* SPDX-License-Identifier: MIT */
/* A module for the software CUDA driver: kernels a to d. */
#include "soft/cuda/cuda_api.h"

#define NOTHING(name)                       \
	SOFT_CUDA_KERNEL(name, sizeof(int)) \
	{                                   \
		(void)at, (void)arguments;  \
	}
NOTHING(a)
NOTHING(b)
NOTHING(c)
NOTHING(d)
