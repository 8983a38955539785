// SPDX-License-Identifier: MIT
/* hip_graph KEY NODES COUNT [CPU]: launches a graph of NODES empty kernels, one after the other, COUNT times, and waits for each launch.
 * Prints the median ns of a launch as the submitting thread sees it, those of them that it had a CPU, and until it is done, and what gputap's
 * helper and collector had a CPU for it. The submitting thread alone goes to @CPU. */
#include "hip_measure.h"

#include <hip/hip_runtime.h>
#include <algorithm>
#include <vector>

enum { WARM = 5 };

__global__ void nothing() {}

static double median(std::vector<uint64_t> &times)
{
	std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
	return (double)times[times.size() / 2];
}

int main(int argc, char **argv)
{
	uint64_t nodes = argc >= 4 ? strtoull(argv[2], nullptr, 0) : 0, count = argc >= 4 ? strtoull(argv[3], nullptr, 0) : 0;
	std::vector<uint64_t> launch, working, all;
	gputap_time before = {}, after;
	hipGraphExec_t exec;
	hipStream_t stream;
	hipGraph_t graph;

	if (!nodes || !count || hipStreamCreate(&stream)) {
		fprintf(stderr, "usage: hip_graph KEY NODES COUNT [CPU], with a device\n");
		return 2;
	}
	if (hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal))
		return 1;
	for (uint64_t i = 0; i < nodes; i++)
		nothing<<<1, 64, 0, stream>>>();
	if (hipStreamEndCapture(stream, &graph) || hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0))
		return 1;
	if (argc > 4 && !go_to(argv[4]))
		return 1;
	for (uint64_t i = 0; i < WARM + count; i++) {
		uint64_t had, start, launched, has;

		if (i == WARM)
			before = gputap_ns();
		had = now_ns(CLOCK_THREAD_CPUTIME_ID);
		start = now_ns();
		if (hipGraphLaunch(exec, stream))
			return 1;
		launched = now_ns();
		has = now_ns(CLOCK_THREAD_CPUTIME_ID);
		if (hipStreamSynchronize(stream))
			return 1;
		if (i >= WARM) {
			launch.push_back(launched - start);
			working.push_back(has - had);
			all.push_back(now_ns() - start);
		}
	}
	after = gputap_ns();
	printf("%s_launch_ns %.0f ns\n%s_launch_cpu_ns %.0f ns\n%s_ns %.0f ns\n", argv[1], median(launch), argv[1], median(working), argv[1],
	       median(all));
	printf("%s_helper_cpu_ns %.0f ns\n%s_collector_cpu_ns %.0f ns\n", argv[1], (double)(after.helper - before.helper) / (double)count,
	       argv[1], (double)(after.collector - before.collector) / (double)count);
	return 0;
}
