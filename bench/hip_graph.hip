/* SPDX-License-Identifier: MIT */
/* hip_graph KEY NODES COUNT [CPU]: launch a graph of NODES empty kernels, one after the other,
 * COUNT times, and wait for each launch. Prints the median ns of a launch in the submitting thread,
 * that thread's CPU time of it, the ns until it is done, and the CPU time of gputap's helper and
 * collector; the first three also for each block of launches ("KEY_block LAUNCH CPU ALL"). Blocks
 * are interleaved with those of other processes (hip_measure.h). Only the submitting thread is
 * bound to @CPU. */
#include "hip_measure.h"

#include <hip/hip_runtime.h>
#include <algorithm>
#include <vector>

enum { WARM = 5, BLOCK = 10, BLOCK_WARM = 2 };

__global__ void nothing()
{
}

struct times {
	std::vector<uint64_t> launch, working, all;

	void add(const times &t)
	{
		launch.insert(launch.end(), t.launch.begin(), t.launch.end());
		working.insert(working.end(), t.working.begin(), t.working.end());
		all.insert(all.end(), t.all.begin(), t.all.end());
	}
};

static double median(std::vector<uint64_t> times)
{
	if (times.empty())
		return 0;
	std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
	return (double)times[times.size() / 2];
}

static bool launch(hipGraphExec_t exec, hipStream_t stream, times &t)
{
	uint64_t had = now_ns(CLOCK_THREAD_CPUTIME_ID), start = now_ns(), launched, has;

	if (hipGraphLaunch(exec, stream))
		return false;
	launched = now_ns();
	has = now_ns(CLOCK_THREAD_CPUTIME_ID);
	if (hipStreamSynchronize(stream))
		return false;
	t.launch.push_back(launched - start);
	t.working.push_back(has - had);
	t.all.push_back(now_ns() - start);
	return true;
}

int main(int argc, char **argv)
{
	uint64_t nodes = argc >= 4 ? strtoull(argv[2], nullptr, 0) : 0,
		 count = argc >= 4 ? strtoull(argv[3], nullptr, 0) : 0;
	gputap_time before = {}, after;
	hipGraphExec_t exec;
	hipStream_t stream;
	hipGraph_t graph;
	times cold, all;

	if (!nodes || !count || hipStreamCreate(&stream)) {
		fprintf(stderr, "usage: hip_graph KEY NODES COUNT [CPU], with a device\n");
		return 2;
	}
	if (hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal))
		return 1;
	for (uint64_t i = 0; i < nodes; i++)
		nothing<<<1, 64, 0, stream>>>();
	if (hipStreamEndCapture(stream, &graph) ||
	    hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0))
		return 1;
	if (argc > 4 && !go_to(argv[4]))
		return 1;
	for (int i = 0; i < WARM; i++)
		if (!launch(exec, stream, cold))
			return 1;
	before = gputap_ns();
	const turns turn;
	for (uint64_t done = 0; done < count; done += BLOCK) {
		times block;

		turn.take();
		for (int i = 0; i < BLOCK_WARM + BLOCK; i++) /* another process had these caches */
			if (!launch(exec, stream, i < BLOCK_WARM ? cold : block))
				return 1;
		turn.pass();
		printf("%s_block %.0f %.0f %.0f\n", argv[1], median(block.launch),
		       median(block.working), median(block.all));
		all.add(block);
	}
	after = gputap_ns();
	count = all.all.size() / BLOCK * (BLOCK + BLOCK_WARM);
	printf("%s_launch_ns %.0f ns\n%s_launch_cpu_ns %.0f ns\n%s_ns %.0f ns\n", argv[1],
	       median(all.launch), argv[1], median(all.working), argv[1], median(all.all));
	printf("%s_helper_cpu_ns %.0f ns\n%s_collector_cpu_ns %.0f ns\n", argv[1],
	       (double)(after.helper - before.helper) / (double)count, argv[1],
	       (double)(after.collector - before.collector) / (double)count);
	return 0;
}
