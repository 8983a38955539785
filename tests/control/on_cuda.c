/* SPDX-License-Identifier: MIT */
/* Kernels for CUDA's driver API, from the module that CONTROL_KERNELS names. */
#include <stdio.h>
#include <stdlib.h>

#include "control.h"
#include "soft/cuda/cuda_api.h"

static CUcontext context;
static CUstream stream;
static CUfunction kernels[KERNELS];

static void check(int status)
{
	if (!status)
		return;
	fprintf(stderr, "CUDA's error %d\n", status);
	exit(1);
}

static void prepare(void)
{
	CUmodule module;

	check(cuInit(0));
	check(cuDevicePrimaryCtxRetain(&context, 0));
	check(cuCtxSetCurrent(context));
	check(cuModuleLoad(&module, getenv("CONTROL_KERNELS")));
	for (int i = 0; i < KERNELS; i++) {
		const char name[2] = {(char)('a' + i), '\0'};

		check(cuModuleGetFunction(&kernels[i], module, name));
	}
	check(cuStreamCreate(&stream, 0));
}

void run_kernel(char name, int count)
{
	int x = 0;
	void *arguments[] = {&x};

	if (!stream)
		prepare();
	for (int i = 0; i < count; i++)
		check(cuLaunchKernel(kernels[name - 'a'], 1, 1, 1, 1, 1, 1, 0, stream, arguments,
				     NULL));
	check(cuStreamSynchronize(stream));
}
