/* SPDX-License-Identifier: MIT */
/* Allocates memory on two CUDA devices, which it selects through the thread's context and through
 * the stream. Second device: 3 MiB, freed while the first device is current, and 64 KiB from its
 * pool. First device: 1 MiB. Also 4 KiB of host memory. */
#include <stdio.h>
#include <stdlib.h>

#include "soft/cuda/cuda_api.h"

#ifndef DEVICES
#define DEVICES 2
#endif

#define DO(call)                                                            \
	do {                                                                \
		int status_ = (call);                                       \
		if (status_) {                                              \
			fprintf(stderr, "%s: status %d\n", #call, status_); \
			exit(3);                                            \
		}                                                           \
	} while (0)

int main(void)
{
	CUcontext contexts[2];
	CUdeviceptr first, second, pooled;
	CUdevice device;
	CUstream stream;
	void *host;

	DO(cuInit(0));
	for (int i = 0; i < 2; i++) {
		DO(cuDeviceGet(&device, i % DEVICES));
		DO(cuDevicePrimaryCtxRetain(&contexts[i], device));
	}
	DO(cuCtxSetCurrent(contexts[0]));
	DO(cuMemAlloc_v2(&first, 1 << 20));
	DO(cuCtxSetCurrent(contexts[1]));
	DO(cuStreamCreate(&stream, 0));
	DO(cuMemAlloc_v2(&second, 3 << 20));
	DO(cuMemAllocAsync(&pooled, 64 << 10, stream));
	DO(cuCtxSetCurrent(contexts[0]));
	DO(cuMemHostAlloc(&host, 4096, 0));
	DO(cuMemFree_v2(second));
	return 0;
}
