/* SPDX-License-Identifier: MIT */
// Two threads, each with its own stream: memcpys of known sizes, kernels, a graph of five kernels
// that is launched three times.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define DO(call)                                                               \
	if (hipError_t error_ = (call); error_ != hipSuccess) {                \
		fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error_)); \
		exit(1);                                                       \
	}

__global__ void add(int *values, int what)
{
	values[threadIdx.x] += what;
}

__global__ void twice(int *values)
{
	values[threadIdx.x] *= 2;
}

static void work()
{
	constexpr size_t sizes[] = {32768, 65536, 1 << 20}; // HIP 7 uses a kernel up to 16 KiB
	hipStream_t stream;
	hipGraph_t graph;
	hipGraphExec_t launchable;
	char *host;
	int *device;

	DO(hipSetDevice(0));
	DO(hipStreamCreate(&stream));
	DO(hipHostMalloc(reinterpret_cast<void **>(&host), sizes[2], 0));
	DO(hipMalloc(reinterpret_cast<void **>(&device), sizes[2]));
	for (size_t size : sizes)
		DO(hipMemcpyAsync(device, host, size, hipMemcpyHostToDevice, stream));
	add<<<1, 64, 0, stream>>>(device, 3);
	twice<<<1, 64, 0, stream>>>(device);
	DO(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	for (int i = 0; i < 5; i++)
		add<<<1, 64, 0, stream>>>(device, i);
	DO(hipStreamEndCapture(stream, &graph));
	DO(hipGraphInstantiate(&launchable, graph, nullptr, nullptr, 0));
	for (int i = 0; i < 3; i++)
		DO(hipGraphLaunch(launchable, stream));
	DO(hipMemcpyAsync(host, device, sizes[1], hipMemcpyDeviceToHost, stream));
	DO(hipStreamSynchronize(stream));
	DO(hipGraphExecDestroy(launchable));
	DO(hipGraphDestroy(graph));
	DO(hipFree(device));
	DO(hipHostFree(host));
	DO(hipStreamDestroy(stream));
}

int main()
{
	std::thread other(work);

	other.join();
	work();
	return 0;
}
