// SPDX-License-Identifier: MIT
/* hip_loop KEY COUNT [CPU]: launch-bound: an empty kernel COUNT times on one stream, waited for every 64 launches.
 * Prints the ns of a launch as the submitting thread sees it, those of them that it had a CPU, of all together, and those that gputap's
 * threads and its collector, our parent, had a CPU. The submitting thread alone goes to @CPU, when the runtime has made its threads. */
#include "hip_measure.h"

#include <hip/hip_runtime.h>

enum { BATCH = 64, WARM = 256 };

__global__ void nothing() {}

int main(int argc, char **argv)
{
	uint64_t count = argc >= 3 ? strtoull(argv[2], nullptr, 0) : 0, start, launching = 0, working = 0;
	gputap_time before, after;
	hipStream_t stream;

	if (!count || hipStreamCreate(&stream)) {
		fprintf(stderr, "usage: hip_loop KEY COUNT, with a device\n");
		return 2;
	}
	for (int i = 0; i < WARM; i++)
		nothing<<<1, 64, 0, stream>>>();
	if (hipStreamSynchronize(stream))
		return 1;
	if (argc > 3 && !go_to(argv[3]))
		return 1;
	before = gputap_ns();
	start = now_ns();
	for (uint64_t i = 0; i < count; i += BATCH) {
		uint64_t had = now_ns(CLOCK_THREAD_CPUTIME_ID), began = now_ns();
		for (int k = 0; k < BATCH; k++)
			nothing<<<1, 64, 0, stream>>>();
		launching += now_ns() - began;
		working += now_ns(CLOCK_THREAD_CPUTIME_ID) - had;
		if (hipStreamSynchronize(stream))
			return 1;
	}
	count = (count + BATCH - 1) / BATCH * BATCH;
	start = now_ns() - start;
	after = gputap_ns();
	printf("%s_ns %.1f ns\n", argv[1], (double)start / (double)count);
	printf("%s_helper_cpu_ns %.1f ns\n%s_collector_cpu_ns %.1f ns\n", argv[1], (double)(after.helper - before.helper) / (double)count,
	       argv[1], (double)(after.collector - before.collector) / (double)count);
	printf("%s_launch_ns %.1f ns\n%s_launch_cpu_ns %.1f ns\n", argv[1], (double)launching / (double)count, argv[1],
	       (double)working / (double)count);
	return 0;
}
