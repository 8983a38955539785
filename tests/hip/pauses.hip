/* SPDX-License-Identifier: MIT */
/* Activities around a pause of the recording: a kernel `gate` is launched before it and completes
 * in it; kernels `within`, memcpys, a memset and a launch of the graph are launched in it, more
 * than a queue has places; `before` and `after` are not. Prints the numbers of both sides. */
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "compat/roctx/roctx.h"

enum { BEFORE = 5, WITHIN = 3000, AFTER = 7, NODES = 4, BYTES = 1 << 16 };

#define MUST(call)                                                           \
	do {                                                                 \
		hipError_t e_ = call;                                        \
		if (e_ != hipSuccess) {                                      \
			fprintf(stderr, "pauses: %s: %d\n", #call, (int)e_); \
			exit(3);                                             \
		}                                                            \
	} while (0)

extern "C" __global__ void before(int *sum)
{
	atomicAdd(sum, 1);
}
extern "C" __global__ void within(int *sum)
{
	atomicAdd(sum, 1);
}
extern "C" __global__ void after(int *sum)
{
	atomicAdd(sum, 1);
}
extern "C" __global__ void node(int *sum)
{
	atomicAdd(sum, 1);
}

extern "C" __global__ void gate(volatile int *open)
{
	while (!*open)
		__builtin_amdgcn_s_sleep(1);
}

static int *sum;
static char *device, host[BYTES];
static hipStream_t stream;
static hipGraphExec_t exec;

static void make_graph()
{
	hipGraph_t graph;

	MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	for (int i = 0; i < NODES; i++)
		node<<<1, 1, 0, stream>>>(sum);
	MUST(hipStreamEndCapture(stream, &graph));
	MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
}

static void move()
{
	MUST(hipMemcpyAsync(device, host, BYTES, hipMemcpyHostToDevice, stream));
	MUST(hipMemcpyAsync(host, device, BYTES, hipMemcpyDeviceToHost, stream));
	MUST(hipMemsetAsync(device, 1, BYTES, stream));
	MUST(hipGraphLaunch(exec, stream));
	MUST(hipStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	bool threads = argc > 1; /* another thread makes the pause */
	volatile int *open;
	int found;

	MUST(hipMalloc((void **)&sum, sizeof *sum));
	MUST(hipMalloc((void **)&device, BYTES));
	MUST(hipHostMalloc((void **)&open, sizeof *open, 0));
	MUST(hipMemset(sum, 0, sizeof *sum));
	MUST(hipStreamCreate(&stream));
	make_graph();
	move();
	for (int i = 0; i < BEFORE; i++)
		before<<<1, 1, 0, stream>>>(sum);
	*open = 0;
	gate<<<1, 1, 0, stream>>>((int *)open);
	if (threads)
		std::thread([] { roctxProfilerPause(0); }).join();
	else
		roctxProfilerPause(0);
	for (int i = 0; i < 100; i++)
		within<<<1, 1, 0, stream>>>(sum);
	*open = 1;
	for (int i = 0; i < WITHIN; i++)
		within<<<1, 1, 0, stream>>>(sum);
	move();
	for (int i = 0; i < WITHIN; i++)
		within<<<1, 1, 0, stream>>>(sum);
	roctxProfilerResume(0);
	for (int i = 0; i < AFTER; i++)
		after<<<1, 1, 0, stream>>>(sum);
	move();
	MUST(hipMemcpy(&found, sum, sizeof found, hipMemcpyDeviceToHost));
	printf("%d\n", found);
	return 0;
}
