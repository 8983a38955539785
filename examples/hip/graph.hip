/* SPDX-License-Identifier: MIT */
/* graph: capture a stream's activities once and launch them ten times. */
#include "common.h"

enum { COUNT = 10000, LAUNCHES = 10 };

__global__ void next(unsigned *p, unsigned by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < COUNT)
		p[i] = p[i] * 1664525u + by;
}

int main()
{
	const int groups = (COUNT + 255) / 256;
	unsigned *host, *device = device_memory<unsigned>(COUNT);
	hipStream_t stream;
	hipGraph_t graph;
	hipGraphExec_t launched;
	size_t nodes;
	int wrong = 0;

	MUST(hipHostMalloc((void **)&host, COUNT * sizeof *host, 0));
	MUST(hipStreamCreate(&stream));
	MUST(hipMemsetAsync(device, 0, COUNT * sizeof *device, stream));
	MUST(hipStreamSynchronize(stream));
	MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	next<<<groups, 256, 0, stream>>>(device, 1);
	next<<<groups, 256, 0, stream>>>(device, 2);
	MUST(hipMemcpyAsync(host, device, COUNT * sizeof *host, hipMemcpyDeviceToHost, stream));
	MUST(hipStreamEndCapture(stream, &graph));
	MUST(hipGraphGetNodes(graph, NULL, &nodes));
	MUST(hipGraphInstantiate(&launched, graph, NULL, NULL, 0));
	for (unsigned launch = 0, value = 0; launch < LAUNCHES; launch++) {
		MUST(hipGraphLaunch(launched, stream));
		MUST(hipStreamSynchronize(stream));
		value = (value * 1664525u + 1) * 1664525u + 2;
		for (int i = 0; i < COUNT; i++)
			wrong += host[i] != value;
	}
	printf("graph: %zu nodes, %d launches, %d wrong\n", nodes, LAUNCHES, wrong);
	MUST(hipGraphExecDestroy(launched));
	MUST(hipGraphDestroy(graph));
	MUST(hipStreamDestroy(stream));
	MUST(hipHostFree(host));
	MUST(hipFree(device));
	return wrong != 0;
}
