/* SPDX-License-Identifier: MIT */
/* Kernels of HIP. */
#include <hip/hip_runtime.h>

#include <stdio.h>
#include <stdlib.h>

extern "C" {
#include "control.h"
}

extern "C" __global__ void a(int *x)
{
	*x = 1;
}

extern "C" __global__ void b(int *x)
{
	*x = 2;
}

extern "C" __global__ void c(int *x)
{
	*x = 3;
}

extern "C" __global__ void d(int *x)
{
	*x = 4;
}

static hipStream_t stream;
static int *number;

static void check(hipError_t status)
{
	if (status == hipSuccess)
		return;
	fprintf(stderr, "%s\n", hipGetErrorString(status));
	exit(1);
}

void run_kernel(char name, int count)
{
	static void (*const kernels[KERNELS])(int *) = {a, b, c, d};

	if (!stream) {
		check(hipStreamCreate(&stream));
		check(hipMalloc((void **)&number, sizeof *number));
	}
	for (int i = 0; i < count; i++)
		kernels[name - 'a']<<<1, 1, 0, stream>>>(number);
	check(hipStreamSynchronize(stream));
}
