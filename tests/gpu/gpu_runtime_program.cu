// SPDX-License-Identifier: MIT
// A program of the runtime API, built with cudart linked statically and dynamically: launches,
// memcpys, memsets, a graph, a pool. With "reset": cudaDeviceReset(), then more of them. The last
// line is JSON: its launches.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

#define CALL(...)                                                                                 \
	do {                                                                                      \
		cudaError_t error_ = (__VA_ARGS__);                                               \
		if (error_) {                                                                     \
			fprintf(stderr, "%s: %s\n", #__VA_ARGS__, cudaGetErrorString(error_));    \
			return 3;                                                                 \
		}                                                                                 \
	} while (0)

enum { LAUNCHES = 1000, CONFIGURED = 100, REPLAYS = 50, NODES = 5 };

__global__ void add_one(float *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		a[i] += 1;
}

static long kernels, copies, sets;

static int launch_all()
{
	float *device, *host;
	cudaStream_t stream;
	cudaEvent_t event;
	cudaLaunchConfig_t config = {};
	int n = 64;

	CALL(cudaMalloc(&device, 1 << 20));
	CALL(cudaMallocHost(&host, 1 << 20));
	CALL(cudaStreamCreate(&stream));
	CALL(cudaEventCreate(&event));
	for (int i = 0; i < LAUNCHES; i++) {
		add_one<<<64, 256, 0, stream>>>(device, 1 << 14);
		kernels++;
		if (i % 10 == 0) {
			CALL(cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, stream));
			copies++;
		}
		if (i % 20 == 0) {
			CALL(cudaMemsetAsync(device, 0, 512, stream));
			sets++;
		}
	}
	config.gridDim = dim3(4);
	config.blockDim = dim3(32);
	config.stream = stream;
	for (int i = 0; i < CONFIGURED; i++, kernels++)
		CALL(cudaLaunchKernelEx(&config, add_one, device, 64));
	void *arguments[] = {&device, &n};
	CALL(cudaLaunchCooperativeKernel((void *)add_one, dim3(4), dim3(32), arguments, 0, stream));
	kernels++;
	CALL(cudaEventRecord(event, stream));
	CALL(cudaEventSynchronize(event));
	CALL(cudaMemcpy(host, device, 4096, cudaMemcpyDeviceToHost));
	copies++;
	CALL(cudaDeviceSynchronize());
	return 0;
}

static int replay_graph()
{
	float *device, *pool;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	CALL(cudaMalloc(&device, 4096));
	CALL(cudaStreamCreate(&stream));
	CALL(cudaMallocAsync(&pool, 4096, stream));
	CALL(cudaFreeAsync(pool, stream));
	CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < NODES; i++)
		add_one<<<1, 32, 0, stream>>>(device, 32);
	CALL(cudaMemsetAsync(device, 0, 512, stream));
	CALL(cudaStreamEndCapture(stream, &graph));
	CALL(cudaGraphInstantiate(&executable, graph, 0));
	for (int i = 0; i < REPLAYS; i++) {
		CALL(cudaGraphLaunch(executable, stream));
		kernels += NODES;
		sets++;
	}
	CALL(cudaDeviceSynchronize());
	return 0;
}

int main(int argc, char **argv)
{
	if (launch_all() || replay_graph())
		return 3;
	if (argc > 1 && !strcmp(argv[1], "reset")) {
		CALL(cudaDeviceReset());
		if (launch_all())
			return 3;
	}
	printf("{\"kernels\": %ld, \"copies\": %ld, \"sets\": %ld}\n", kernels, copies, sets);
	return 0;
}
