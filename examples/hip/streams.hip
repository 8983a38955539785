/* SPDX-License-Identifier: MIT */
/* streams: concurrent copies and kernels on four streams; a fifth stream waits for all of them with
 * events. */
#include "common.h"

enum { STREAMS = 4, COUNT = 50000 };

__global__ void scale(int *p, int by)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < COUNT)
		p[i] *= by;
}

__global__ void sum(const int *a, const int *b, const int *c, const int *d, int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < COUNT)
		out[i] = a[i] + b[i] + c[i] + d[i];
}

int main()
{
	const int groups = (COUNT + 255) / 256;
	hipStream_t stream[STREAMS], last;
	hipEvent_t done[STREAMS];
	int *host[STREAMS], *device[STREAMS], *out = device_memory<int>(COUNT), *result, wrong = 0;

	MUST(hipStreamCreateWithFlags(&last, hipStreamNonBlocking));
	MUST(hipHostMalloc((void **)&result, COUNT * sizeof(int), 0));
	for (int s = 0; s < STREAMS; s++) {
		MUST(hipStreamCreate(&stream[s]));
		MUST(hipEventCreateWithFlags(&done[s], hipEventDisableTiming));
		MUST(hipHostMalloc((void **)&host[s], COUNT * sizeof(int), 0));
		device[s] = device_memory<int>(COUNT);
		for (int i = 0; i < COUNT; i++)
			host[s][i] = i + s;
	}
	for (int s = 0; s < STREAMS; s++) {
		MUST(hipMemcpyAsync(device[s], host[s], COUNT * sizeof(int), hipMemcpyHostToDevice,
				    stream[s]));
		scale<<<groups, 256, 0, stream[s]>>>(device[s], s + 1);
		MUST(hipEventRecord(done[s], stream[s]));
		MUST(hipStreamWaitEvent(last, done[s], 0));
	}
	sum<<<groups, 256, 0, last>>>(device[0], device[1], device[2], device[3], out);
	MUST(hipMemcpyAsync(result, out, COUNT * sizeof(int), hipMemcpyDeviceToHost, last));
	MUST(hipStreamSynchronize(last));
	for (int i = 0; i < COUNT; i++)
		wrong += result[i] != i + 2 * (i + 1) + 3 * (i + 2) + 4 * (i + 3);
	printf("streams: %d of them, %d wrong\n", STREAMS, wrong);
	for (int s = 0; s < STREAMS; s++) {
		MUST(hipStreamDestroy(stream[s]));
		MUST(hipEventDestroy(done[s]));
		MUST(hipHostFree(host[s]));
		MUST(hipFree(device[s]));
	}
	MUST(hipStreamDestroy(last));
	MUST(hipHostFree(result));
	MUST(hipFree(out));
	return wrong != 0;
}
