/* SPDX-License-Identifier: MIT */
/* hip_loop KEY COUNT [CPU]: launch-bound: launch an empty kernel COUNT times on one stream, and
 * wait after every 64 launches. Prints the ns of a launch in the submitting thread, that thread's
 * CPU time of it, the ns of a launch including the waits, and the CPU time of gputap's threads and
 * of its collector, our parent; the first three also for each block ("KEY_block LAUNCH CPU ALL").
 * Blocks are interleaved with those of other processes (hip_measure.h). Only the submitting thread
 * is bound to @CPU, after the runtime has made its threads. */
#include "hip_measure.h"

#include <hip/hip_runtime.h>

enum { BATCH = 64, WARM = 256, BLOCK = 32 /* batches */ };

__global__ void nothing()
{
}

struct times {
	uint64_t launching, working, all;
};

/* Launch @batches times BATCH kernels, and wait after each batch. */
static bool run(uint64_t batches, hipStream_t stream, times &t)
{
	for (uint64_t i = 0; i < batches; i++) {
		uint64_t had = now_ns(CLOCK_THREAD_CPUTIME_ID), began = now_ns();

		for (int k = 0; k < BATCH; k++)
			nothing<<<1, 64, 0, stream>>>();
		t.launching += now_ns() - began;
		t.working += now_ns(CLOCK_THREAD_CPUTIME_ID) - had;
		if (hipStreamSynchronize(stream))
			return false;
		t.all += now_ns() - began;
	}
	return true;
}

int main(int argc, char **argv)
{
	uint64_t count = argc >= 3 ? strtoull(argv[2], nullptr, 0) : 0,
		 batches = (count + BATCH - 1) / BATCH;
	const bool blocks = getenv("GPUTAP_BENCH_TURNS");
	times all = {}, cold = {};
	gputap_time before, after;
	hipStream_t stream;

	if (!count || hipStreamCreate(&stream)) {
		fprintf(stderr, "usage: hip_loop KEY COUNT [CPU], with a device\n");
		return 2;
	}
	if (!run(WARM / BATCH, stream, cold))
		return 1;
	if (argc > 3 && !go_to(argv[3]))
		return 1;
	before = gputap_ns();
	const turns turn;
	for (uint64_t i = 0; i < batches; i += BLOCK) {
		uint64_t now = batches - i < BLOCK ? batches - i : BLOCK;
		times block = {};

		turn.take();
		/* warm up: another process had these caches */
		if ((blocks && !run(2, stream, cold)) || !run(now, stream, block))
			return 1;
		turn.pass();
		if (blocks)
			printf("%s_block %.1f %.1f %.1f\n", argv[1],
			       (double)block.launching / (double)(now * BATCH),
			       (double)block.working / (double)(now * BATCH),
			       (double)block.all / (double)(now * BATCH));
		all.launching += block.launching;
		all.working += block.working;
		all.all += block.all;
	}
	after = gputap_ns();
	count = batches * BATCH;
	printf("%s_launch_ns %.1f ns\n%s_launch_cpu_ns %.1f ns\n%s_ns %.1f ns\n", argv[1],
	       (double)all.launching / (double)count, argv[1], (double)all.working / (double)count,
	       argv[1], (double)all.all / (double)count);
	printf("%s_helper_cpu_ns %.1f ns\n%s_collector_cpu_ns %.1f ns\n", argv[1],
	       (double)(after.helper - before.helper) / (double)count, argv[1],
	       (double)(after.collector - before.collector) / (double)count);
	return 0;
}
