// SPDX-License-Identifier: MIT
/* hip_loop KEY COUNT: launch-bound: an empty kernel COUNT times on one stream, waited for every 64 launches.
 * Prints the ns of a launch as the submitting thread sees it, and of all together. */
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

enum { BATCH = 64, WARM = 256 };

__global__ void nothing() {}

static uint64_t now_ns()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t count = argc == 3 ? strtoull(argv[2], nullptr, 0) : 0, start, launching = 0;
	hipStream_t stream;

	if (!count || hipStreamCreate(&stream)) {
		fprintf(stderr, "usage: hip_loop KEY COUNT, with a device\n");
		return 2;
	}
	for (int i = 0; i < WARM; i++)
		nothing<<<1, 64, 0, stream>>>();
	if (hipStreamSynchronize(stream))
		return 1;
	start = now_ns();
	for (uint64_t i = 0; i < count; i += BATCH) {
		uint64_t began = now_ns();
		for (int k = 0; k < BATCH; k++)
			nothing<<<1, 64, 0, stream>>>();
		launching += now_ns() - began;
		if (hipStreamSynchronize(stream))
			return 1;
	}
	count = (count + BATCH - 1) / BATCH * BATCH;
	printf("%s_launch_ns %.1f ns\n%s_ns %.1f ns\n", argv[1], (double)launching / (double)count, argv[1],
	       (double)(now_ns() - start) / (double)count);
	return 0;
}
