/* SPDX-License-Identifier: MIT */
/* A code object of the same shape as another one, with a different kernel at the same place. */
#include <hip/hip_runtime.h>

extern "C" __global__ void NAME(int *out)
{
	*out = VALUE;
}
