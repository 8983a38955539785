/* SPDX-License-Identifier: MIT */
/* shared_stream N: two threads launch into one stream at the same time, N times a kernel of their
 * own, N times one that both launch. The grid identifies the launch: (number from 1, thread from
 * 1). */
#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>
#include <thread>

#define MUST(call)                                      \
	do {                                            \
		if ((call) != hipSuccess) {             \
			fprintf(stderr, "%s\n", #call); \
			exit(1);                        \
		}                                       \
	} while (0)

static unsigned *sum;

extern "C" __global__ void left(unsigned *at)
{
	if (threadIdx.x == 0 && blockIdx.x == 0 && blockIdx.y == 0)
		atomicAdd(at, 1u);
}

extern "C" __global__ void right(unsigned *at)
{
	if (threadIdx.x == 0 && blockIdx.x == 0 && blockIdx.y == 0)
		atomicAdd(at, 1u);
}

extern "C" __global__ void both(unsigned *at)
{
	if (threadIdx.x == 0 && blockIdx.x == 0 && blockIdx.y == 0)
		atomicAdd(at, 1u);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 100;
	unsigned found = 0;
	hipStream_t stream;

	MUST(hipMalloc((void **)&sum, sizeof *sum));
	MUST(hipMemset(sum, 0, sizeof *sum));
	MUST(hipStreamCreate(&stream));
	auto work = [&](bool is_left) {
		for (int i = 0; i < count; i++) {
			if (is_left)
				left<<<dim3(i + 1, 1), 1, 0, stream>>>(sum);
			else
				right<<<dim3(i + 1, 2), 1, 0, stream>>>(sum);
			both<<<dim3(i + 1, is_left ? 1 : 2), 1, 0, stream>>>(sum);
		}
	};
	std::thread a(work, true), b(work, false);
	a.join();
	b.join();
	MUST(hipStreamSynchronize(stream));
	MUST(hipMemcpy(&found, sum, sizeof found, hipMemcpyDeviceToHost));
	printf("%u of %d\n", found, 4 * count);
	return found != 4u * (unsigned)count;
}
