/* SPDX-License-Identifier: MIT */
/* A program for the CUDA driver API, for which the test knows the correct report. Linked with the
 * software driver's libcuda.so.1; also built as a library, with another name for main().
 *
 *   report_program MODULE waits    long kernels on one stream, with a wait for each
 *   report_program MODULE graph N  N launches of a graph with a kernel and a memset
 *   report_program MODULE work N   N times a memcpy, a kernel, a memset and a memcpy back */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft/cuda/cuda_api.h"

enum { NUMBERS = 1000, NAP_US = 5000 };

static CUcontext context;
static CUfunction add, nap;
static CUstream stream;
static CUdeviceptr memory;
static int host[NUMBERS];

#define DO(call)                                                            \
	do {                                                                \
		int status_ = (call);                                       \
		if (status_) {                                              \
			fprintf(stderr, "%s: status %d\n", #call, status_); \
			return 3;                                           \
		}                                                           \
	} while (0)

static int begin(const char *path)
{
	CUmodule module;

	DO(cuInit(0));
	DO(cuDevicePrimaryCtxRetain(&context, 0));
	DO(cuCtxSetCurrent(context));
	DO(cuModuleLoad(&module, path));
	DO(cuModuleGetFunction(&add, module, "add_numbers"));
	DO(cuModuleGetFunction(&nap, module, "nap"));
	DO(cuStreamCreate(&stream, 1));
	DO(cuMemAlloc_v2(&memory, sizeof host));
	return 0;
}

/* The stream is a member of a struct. */
static int launch_nap(void)
{
	const CUlaunchConfig config = {.gridDimX = 1,
				       .gridDimY = 1,
				       .gridDimZ = 1,
				       .blockDimX = 1,
				       .blockDimY = 1,
				       .blockDimZ = 1,
				       .hStream = stream};
	int us = NAP_US;
	void *arguments[] = {&us};

	DO(cuLaunchKernelEx(&config, nap, arguments, NULL));
	return 0;
}

static int wait_in_each_way(void)
{
	CUevent event;

	DO(cuEventCreate(&event, 0));
	if (launch_nap())
		return 3;
	DO(cuStreamSynchronize(stream));
	if (launch_nap())
		return 3;
	DO(cuEventRecord(event, stream));
	DO(cuEventSynchronize(event));
	if (launch_nap())
		return 3;
	DO(cuCtxSynchronize());
	DO(cuEventDestroy_v2(event));
	return 0;
}

static int launch_add(CUstream on)
{
	int count = NUMBERS, one = 1;
	void *arguments[] = {&memory, &count, &one};

	DO(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, on, arguments, NULL));
	return 0;
}

static int launch_graphs(int launches)
{
	static int count = NUMBERS, one = 1;
	static void *arguments[] = {&memory, &count, &one};
	const CUDA_KERNEL_NODE_PARAMS kernel = {.func = add,
						.gridDimX = 4,
						.gridDimY = 1,
						.gridDimZ = 1,
						.blockDimX = 256,
						.blockDimY = 1,
						.blockDimZ = 1,
						.kernelParams = arguments};
	const CUDA_MEMSET_NODE_PARAMS set = {memory, 0, 5, 4, 10, 1};
	CUgraphNode first, second;
	CUgraphExec exec;
	CUgraph graph;

	DO(cuGraphCreate(&graph, 0));
	DO(cuGraphAddKernelNode_v2(&first, graph, NULL, 0, &kernel));
	DO(cuGraphAddMemsetNode(&second, graph, &first, 1, &set, context));
	DO(cuGraphInstantiateWithFlags(&exec, graph, 0));
	while (launches-- > 0)
		DO(cuGraphLaunch(exec, stream));
	DO(cuStreamSynchronize(stream));
	DO(cuGraphExecDestroy(exec));
	DO(cuGraphDestroy(graph));
	return 0;
}

static int work(int times)
{
	while (times-- > 0) {
		DO(cuMemcpyHtoDAsync_v2(memory, host, sizeof host, stream));
		if (launch_add(stream))
			return 3;
		DO(cuMemsetD32Async(memory, 7, NUMBERS, stream));
		DO(cuMemcpyDtoHAsync_v2(host, memory, sizeof host, stream));
	}
	DO(cuStreamSynchronize(stream));
	return 0;
}

int main(int argc, char **argv)
{
	int times = argc > 3 ? atoi(argv[3]) : 1, status;

	if (argc < 3 || begin(argv[1]))
		return 3;
	status = strcmp(argv[2], "waits") == 0   ? wait_in_each_way()
		 : strcmp(argv[2], "graph") == 0 ? launch_graphs(times)
						 : work(times);
	DO(cuMemFree_v2(memory));
	DO(cuStreamDestroy_v2(stream));
	return status;
}
