/* SPDX-License-Identifier: MIT */
/* A program that names its device and streams with NVTX, before or after GPU activities run on
 * them.
 *
 *   named_program MODULE */
#include <stdio.h>
#include <stdlib.h>

#include "soft/cuda/cuda_api.h"
#include "tests/ranges/nvtx_own.h"

#define DO(call)                                                            \
	do {                                                                \
		int status_ = (call);                                       \
		if (status_) {                                              \
			fprintf(stderr, "%s: status %d\n", #call, status_); \
			exit(3);                                            \
		}                                                           \
	} while (0)

static CUdeviceptr memory;

static void work(CUstream stream)
{
	DO(cuMemsetD8Async(memory, 0, 4096, stream));
	DO(cuStreamSynchronize(stream));
}

int main(void)
{
	CUstream early, late, unnamed;
	CUcontext context;
	CUdevice device;

	DO(cuInit(0));
	DO(cuDeviceGet(&device, 0));
	nvtxNameCuDeviceA(device, "the first one");
	DO(cuCtxCreate_v2(&context, 0, device));
	nvtxNameCuContextA(context, "a context");
	DO(cuStreamCreate(&early, 0));
	DO(cuStreamCreate(&late, 0));
	DO(cuStreamCreate(&unnamed, 0));
	DO(cuMemAlloc_v2(&memory, 4096));
	nvtxNameCuStreamA(early, "before its work");
	work(early);
	work(late);
	work(unnamed);
	work(NULL);
	nvtxNameCudaStreamW(late, L"behind its work \u20ac");
	nvtxNameCudaStreamA(NULL, "the default one");
	return 0;
}
