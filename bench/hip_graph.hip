// SPDX-License-Identifier: MIT
/* hip_graph KEY NODES COUNT: launches a graph of NODES empty kernels, one after the other, COUNT times, and waits for each launch.
 * Prints the median ns of a launch as the submitting thread sees it, and until it is done. */
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

enum { WARM = 5 };

__global__ void nothing() {}

static uint64_t now_ns()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static double median(std::vector<uint64_t> &times)
{
	std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
	return (double)times[times.size() / 2];
}

int main(int argc, char **argv)
{
	uint64_t nodes = argc == 4 ? strtoull(argv[2], nullptr, 0) : 0, count = argc == 4 ? strtoull(argv[3], nullptr, 0) : 0;
	std::vector<uint64_t> launch, all;
	hipGraphExec_t exec;
	hipStream_t stream;
	hipGraph_t graph;

	if (!nodes || !count || hipStreamCreate(&stream)) {
		fprintf(stderr, "usage: hip_graph KEY NODES COUNT, with a device\n");
		return 2;
	}
	if (hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal))
		return 1;
	for (uint64_t i = 0; i < nodes; i++)
		nothing<<<1, 64, 0, stream>>>();
	if (hipStreamEndCapture(stream, &graph) || hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0))
		return 1;
	for (uint64_t i = 0; i < WARM + count; i++) {
		uint64_t start = now_ns(), launched;

		if (hipGraphLaunch(exec, stream))
			return 1;
		launched = now_ns();
		if (hipStreamSynchronize(stream))
			return 1;
		if (i >= WARM) {
			launch.push_back(launched - start);
			all.push_back(now_ns() - start);
		}
	}
	printf("%s_launch_ns %.0f ns\n%s_ns %.0f ns\n", argv[1], median(launch), argv[1], median(all));
	return 0;
}
