/* SPDX-License-Identifier: MIT */
/* What a record of a call costs in a buffer of the tool API, beside the floor: two time stamps and 64 bytes stored into a ring.
 * It is handed over between the trials. With "3": three threads, in the same buffer. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/thread.h"
#include "gputap/tool.h"
#include "measure.h"
#include "tool/tool.h"

enum { CALLS = 3000, TRIALS = 1501, FLOOR_BYTES = 1 << 20, THREADS_MAX = 3 };

static struct gputap_buffer *buffer;
static _Atomic uint64_t handed;
static uint64_t *floor_rings[THREADS_MAX];

static void count(struct gputap_buffer *b, const struct gputap_record *records, size_t n, uint64_t lost, void *user)
{
	(void)b, (void)records, (void)lost, (void)user;
	handed += n;
}

static double floor_trial(uint64_t *ring)
{
	uint64_t begin = bench_now_ns(), head = 0;

	for (uint64_t i = 0; i < CALLS; i++) {
		uint64_t start = __rdtsc(), end, *r;

		__asm__ volatile("" ::: "memory");
		end = __rdtsc();
		r = &ring[head % (FLOOR_BYTES / 8)];
		r[0] = 42, r[1] = start, r[2] = end, r[3] = 0, r[4] = i, r[5] = i, r[6] = i, r[7] = i;
		atomic_store_explicit((_Atomic uint64_t *)&ring[FLOOR_BYTES / 8], head += 8, memory_order_release);
	}
	return (double)(bench_now_ns() - begin) / CALLS;
}

static double buffer_trial(void)
{
	uint64_t begin = bench_now_ns();

	for (uint64_t i = 0; i < CALLS; i++) {
		struct gputap_record_call r = {.domain = 2, .operation = 4, .correlation = i, .thread = 1, .start = __rdtsc()};

		__asm__ volatile("" ::: "memory");
		r.end = __rdtsc();
		gt_tool_buffer_write_ticks(buffer, GPUTAP_RECORD_CALL, &r, sizeof r, offsetof(struct gputap_record_call, start), 2, false);
	}
	return (double)(bench_now_ns() - begin) / CALLS;
}

struct job {
	pthread_t id;
	int cpu;
	double floor, ns, ratio;
};

static void *run(void *arg)
{
	struct job *j = arg;
	static _Thread_local double floor[TRIALS], ns[TRIALS], ratio[TRIALS]; /* short trials: a neighbour's work hits few of them */

	bench_pin(j->cpu);
	for (int i = 0; i < TRIALS; i++) {
		floor[i] = floor_trial(floor_rings[j->cpu]);
		ns[i] = buffer_trial();
		ratio[i] = ns[i] / floor[i];
		gputap_buffer_flush(buffer); /* what is measured is writing, not waiting for a processor that hands over */
	}
	j->floor = bench_median(floor, TRIALS);
	j->ns = bench_median(ns, TRIALS);
	j->ratio = bench_median(ratio, TRIALS);
	return NULL;
}

int main(int argc, char **argv)
{
	struct gputap_buffer_opts o = {.size = sizeof o, /* as the floor's ring */ .bytes = FLOOR_BYTES, .fn = count};
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	struct job jobs[THREADS_MAX];
	double floor = 0, ns = 0, ratio = 0;

	if ((threads != 1 && threads != THREADS_MAX) || gputap_buffer_create(&o, &buffer))
		return 1;
	for (int i = 0; i < threads; i++) {
		floor_rings[i] = calloc(1, FLOOR_BYTES + 8);
		jobs[i].cpu = i;
		pthread_create(&jobs[i].id, NULL, run, &jobs[i]);
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(jobs[i].id, NULL);
		floor += jobs[i].floor / threads;
		ns += jobs[i].ns / threads;
		ratio += jobs[i].ratio / threads;
	}
	gputap_buffer_destroy(buffer);
	if (handed != (uint64_t)threads * TRIALS * CALLS)
		return 2;
	bench_print(threads > 1 ? "buffer_floor_3t" : "buffer_floor", floor, "ns");
	bench_print(threads > 1 ? "buffer_write_3t" : "buffer_write", ns, "ns");
	bench_print(threads > 1 ? "buffer_write_3t_ratio" : "buffer_write_ratio", ratio, "x");
	return 0;
}
