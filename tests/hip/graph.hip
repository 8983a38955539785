/* SPDX-License-Identifier: MIT */
// Launches, memcpys, a memset and a graph of three kernels that is launched twice. Prints the final
// a[5]: 10.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void add(float *a, float value)
{
	a[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

int main()
{
	float *device, host[256] = {0};
	hipStream_t stream;
	hipGraph_t graph;
	hipGraphExec_t instance;

	hipMalloc(&device, sizeof host);
	hipMemset(device, 0, sizeof host);
	hipMemcpy(device, host, sizeof host, hipMemcpyHostToDevice);
	hipStreamCreate(&stream);
	for (int i = 0; i < 4; i++)
		hipLaunchKernelGGL(add, dim3(4), dim3(64), 0, stream, device, 1.0f);
	hipStreamSynchronize(stream);
	hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
	for (int i = 0; i < 3; i++)
		hipLaunchKernelGGL(add, dim3(4), dim3(64), 0, stream, device, 1.0f);
	hipStreamEndCapture(stream, &graph);
	hipGraphInstantiate(&instance, graph, nullptr, nullptr, 0);
	for (int i = 0; i < 2; i++)
		hipGraphLaunch(instance, stream);
	hipStreamSynchronize(stream);
	hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost);
	printf("%g\n", host[5]);
	hipFree(device);
	return host[5] == 10 ? 0 : 1;
}
