/* SPDX-License-Identifier: MIT */
/* peer_lttng KEY CPU CALLS THREADS: measures a call with an LTTng-UST entry and exit event around
 * the call. Run this program inside an LTTng session. Without a session, the result is the cost of
 * disabled tracepoints. */
#include <pthread.h>

#include "measure.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "peer_lttng_events.h"

typedef int call_fn(uint64_t, uint64_t, uint64_t, uint64_t);

__attribute__((noinline)) static int callee(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	__asm__ volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d));
	return 0;
}

static call_fn *volatile real = callee;
static _Thread_local uint64_t last_id;

__attribute__((noinline)) static int traced(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t id = ++last_id;
	int status;

	lttng_ust_tracepoint(gputap_bench, call_entry, 7, id, a, b, c, d);
	status = real(a, b, c, d);
	lttng_ust_tracepoint(gputap_bench, call_exit, id, status);
	return status;
}

static call_fn *volatile entry = traced;
static uint64_t calls;
static int first_cpu;

static void *worker(void *arg)
{
	double trial[5], *result = malloc(sizeof *result);

	if (!result)
		return NULL;
	bench_pin(first_cpu + (int)(intptr_t)arg);
	for (int t = 0; t < 5; t++) {
		uint64_t start = bench_now_ns();

		for (uint64_t i = 0; i < calls; i++)
			entry(i, 2, 3, 4);
		trial[t] = (double)(bench_now_ns() - start) / (double)calls;
	}
	*result = bench_median(trial, 5);
	return result;
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	int count;
	double sum = 0;

	if (argc != 5 || (count = atoi(argv[4])) < 1 || count > 16) {
		fprintf(stderr, "usage: peer_lttng KEY CPU CALLS THREADS\n");
		return 2;
	}
	first_cpu = atoi(argv[2]);
	calls = strtoull(argv[3], NULL, 0);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i))
			return 1;
	for (int i = 0; i < count; i++) {
		void *result;

		pthread_join(threads[i], &result);
		if (!result)
			return 1;
		sum += *(double *)result;
		free(result);
	}
	bench_print(argv[1], sum / count, "ns");
	return 0;
}
