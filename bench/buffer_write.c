/* SPDX-License-Identifier: MIT */
/* Measures the cost of a call's record in a buffer of the tool API, and the floor for comparison:
 * two time stamps and 64 bytes stored into a ring. Between trials, the buffer is handed over to the
 * reader. With "3", three threads write to the same buffer. As in tap_cost, trials are sorted by
 * whether this thread had its core to itself. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/thread.h"
#include "gputap/tool.h"
#include "measure.h"
#include "tool/tool_buffer_write.h"

enum { CALLS = 3000, TRIALS = 1501, FLOOR_BYTES = 1 << 20, THREADS_MAX = 3 };

static struct gputap_buffer *buffer;
static _Atomic uint64_t handed;
static uint64_t *floor_rings[THREADS_MAX];

static void count(struct gputap_buffer *b, const struct gputap_record *records, size_t n,
		  uint64_t lost, void *user)
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
		r[0] = 42, r[1] = start, r[2] = end, r[3] = 0, r[4] = i, r[5] = i, r[6] = i,
		r[7] = i;
		atomic_store_explicit((_Atomic uint64_t *)&ring[FLOOR_BYTES / 8], head += 8,
				      memory_order_release);
	}
	return (double)(bench_now_ns() - begin) / CALLS;
}

/* Write a record as gt_tool_call_exit() does: the frame of the call is in memory and has these
 * values. */
static double buffer_trial(void)
{
	static _Thread_local struct gt_tool_frame f = {
		.call = {.domain = 2, .operation = 4, .thread = 1}};
	uint64_t begin = bench_now_ns();

	for (uint64_t i = 0; i < CALLS; i++) {
		f.call.correlation = i;
		f.start = __rdtsc();
		__asm__ volatile("" ::: "memory");
		gt_tool_buffer_call(buffer, &f, __rdtsc(), 0);
	}
	return (double)(bench_now_ns() - begin) / CALLS;
}

struct job {
	pthread_t id;
	int cpu;
	/* results on an unshared core; shared_ratio: on a shared core, 0 if too few trials */
	double floor, ns, ratio, shared_ratio;
};

static double least; /* bench_least_busy() */

static void *run(void *arg)
{
	struct job *j = arg;
	double(*floor)[TRIALS] = calloc(3, sizeof *floor), (*ns)[TRIALS] = calloc(3, sizeof *ns),
	(*ratio)[TRIALS] = calloc(3, sizeof *ratio);
	size_t count[3] = {0}; /* indexed by enum bench_core */

	bench_pin(j->cpu);
	/* short trials, so that the other hardware thread disturbs few of them */
	for (int i = 0; i < TRIALS; i++) {
		double before = bench_busy(), beside = floor_trial(floor_rings[j->cpu]),
		       mine = buffer_trial();
		enum bench_core kind = bench_alone(before, bench_busy(), least);

		floor[kind][count[kind]] = beside;
		ns[kind][count[kind]] = mine;
		ratio[kind][count[kind]++] = mine / beside;
		/* so that trials measure writing, not waiting for the thread that hands over the
		 * buffer */
		gputap_buffer_flush(buffer);
	}
	if (count[BENCH_ALONE] < 15) { /* too few: use all trials */
		fprintf(stderr, "buffer_write: another program always used this core\n");
		memcpy(count, (size_t[]){count[1], count[1], 0}, sizeof count);
		memcpy(floor[0], floor[1], sizeof *floor);
		memcpy(ns[0], ns[1], sizeof *ns);
		memcpy(ratio[0], ratio[1], sizeof *ratio);
	}
	j->floor = bench_median(floor[0], count[0]);
	j->ns = bench_median(ns[0], count[0]);
	j->ratio = bench_median(ratio[0], count[0]);
	j->shared_ratio = count[1] < 15 ? 0 : bench_median(ratio[1], count[1]);
	free(floor);
	free(ns);
	free(ratio);
	return NULL;
}

static void print(const char *key, int threads, double value, const char *unit)
{
	char name[64];

	snprintf(name, sizeof name, key, threads > 1 ? "_3t" : "");
	bench_print(name, value, unit);
}

int main(int argc, char **argv)
{
	struct gputap_buffer_opts o = {.size = sizeof o,
				       /* same size as the floor's ring */ .bytes = FLOOR_BYTES,
				       .fn = count};
	int threads = argc > 1 ? atoi(argv[1]) : 1, shared = 0;
	struct job jobs[THREADS_MAX];
	double floor = 0, ns = 0, ratio = 0, shared_ratio = 0;

	if ((threads != 1 && threads != THREADS_MAX) || gputap_buffer_create(&o, &buffer))
		return 1;
	least = bench_least_busy(NULL);
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
		shared_ratio += jobs[i].shared_ratio;
		shared += jobs[i].shared_ratio > 0;
	}
	gputap_buffer_destroy(buffer);
	if (handed != (uint64_t)threads * TRIALS * CALLS)
		return 2;
	print("buffer_floor%s", threads, floor, "ns");
	print("buffer_write%s", threads, ns, "ns");
	print("buffer_write%s_ratio", threads, ratio, "x");
	if (shared)
		print("buffer_write%s_shared_ratio", threads, shared_ratio / shared, "x");
	return 0;
}
