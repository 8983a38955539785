/* SPDX-License-Identifier: MIT */
/* A loop for the CUDA driver API with one known change, for tests of `gputap diff`. Linked with the
 * software driver's libcuda.so.1. Each step copies 16 KiB to the device, runs three kernels of
 * known duration, copies 16 KiB back and waits.
 *
 *   changed_program MODULE STEPS [CHANGE]
 *
 *   sync, few     a second cuStreamSynchronize in each step, in every 20th step
 *   launch        kernel work_c runs twice
 *   copy, set     a second copy back, a memset
 *   alloc         cuMemAlloc and cuMemFree in each step
 *   grid          kernel work_b has twice the blocks, and takes twice the time
 *   slow          kernel work_b takes 50 % longer
 *   pause         the host computes for 400 us in each step
 *   rename        kernel work_b is called work_b_v2
 *   added, gone   kernel work_d runs as well, kernel work_c does not run
 *   blocking      the copy to the device blocks: cuMemcpyHtoD instead of cuMemcpyHtoDAsync */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "soft/cuda/cuda_api.h"

enum { BYTES = 16 << 10 };

#define DO(call)                                                            \
	do {                                                                \
		int status_ = (call);                                       \
		if (status_) {                                              \
			fprintf(stderr, "%s: status %d\n", #call, status_); \
			exit(3);                                            \
		}                                                           \
	} while (0)

static CUmodule module;
static CUstream stream;

static CUfunction find(const char *name)
{
	CUfunction function;

	DO(cuModuleGetFunction(&function, module, name));
	return function;
}

static void launch(CUfunction function, unsigned blocks, int microseconds)
{
	void *arguments[] = {&microseconds};

	DO(cuLaunchKernel(function, blocks, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static void compute_ns(long ns)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < ns);
}

int main(int argc, char **argv)
{
	const char *change = argc > 3 ? argv[3] : "";
	CUfunction a, b, c, d;
	CUcontext context;
	CUdeviceptr memory, more;
	CUdevice device;
	void *host;

	if (argc < 3)
		return 2;
	DO(cuInit(0));
	DO(cuDeviceGet(&device, 0));
	DO(cuCtxCreate_v2(&context, 0, device));
	DO(cuModuleLoad(&module, argv[1]));
	DO(cuStreamCreate(&stream, 0));
	DO(cuMemAlloc_v2(&memory, BYTES));
	DO(cuMemHostAlloc(&host, BYTES, 0));
	a = find("work_a");
	b = find(!strcmp(change, "rename") ? "work_b_v2" : "work_b");
	c = find("work_c");
	d = find("work_d");
	for (int i = 0; i < atoi(argv[2]); i++) {
		if (!strcmp(change, "blocking"))
			DO(cuMemcpyHtoD_v2(memory, host, BYTES));
		else
			DO(cuMemcpyHtoDAsync_v2(memory, host, BYTES, stream));
		launch(a, 1, 200);
		launch(b, !strcmp(change, "grid") ? 2 : 1, !strcmp(change, "slow") ? 450 : 300);
		if (strcmp(change, "gone"))
			launch(c, 1, 100);
		if (!strcmp(change, "launch"))
			launch(c, 1, 100);
		if (!strcmp(change, "added"))
			launch(d, 1, 100);
		if (!strcmp(change, "set"))
			DO(cuMemsetD32Async(memory, 0, BYTES / 4, stream));
		if (!strcmp(change, "alloc")) {
			DO(cuMemAlloc_v2(&more, BYTES));
			DO(cuMemFree_v2(more));
		}
		DO(cuMemcpyDtoHAsync_v2(host, memory, BYTES, stream));
		if (!strcmp(change, "copy"))
			DO(cuMemcpyDtoHAsync_v2(host, memory, BYTES, stream));
		DO(cuStreamSynchronize(stream));
		if (!strcmp(change, "sync") || (!strcmp(change, "few") && i % 20 == 0))
			DO(cuStreamSynchronize(stream));
		compute_ns(!strcmp(change, "pause") ? 450000 : 50000);
	}
	return 0;
}
