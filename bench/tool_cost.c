/* SPDX-License-Identifier: MIT */
/* Measures a call that notifies tools, with the real library. This program acts as the OpenCL
 * loader, as tap_cost.c does, and is a tool with an empty callback. For comparison, the same run
 * measures the bare call into a separate library (tool_runtime.c), and the floor (two time stamps
 * around the call and a 64-byte record).
 *
 * Prints "key value unit" lines. *_ratio: relative to the floor; *_over: ns in addition to the bare
 * call. Each trial of one kind has an adjacent trial of the other kind, and the medians are over
 * their differences and ratios. Medians of trials on a shared core (measure.h) are *_shared_over.
 *
 * tool_cost CALLS TOOLS, for callgrind: only makes CALLS calls and notifies TOOLS contexts of each.
 * The difference between two runs gives the cost of a call. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "gputap/tool.h"
#include "measure.h"

enum { CALLS = 20000, TRIALS = 101, THREADS = 4, FLOOR_WORDS = 1 << 17 };

typedef cl_int (*one_argument)(cl_event);

cl_int bench_runtime_retain(cl_event e);

static one_argument real_retain;
static _Thread_local uint64_t floor_at, *floor_data;

__attribute__((noinline)) static cl_int floor_retain(cl_event e)
{
	uint64_t start = __rdtsc(), *r = &floor_data[floor_at % FLOOR_WORDS];
	cl_int ret = real_retain(e);

	r[0] = 42;
	r[1] = start;
	r[2] = __rdtsc();
	r[3] = (uint64_t)(uint32_t)ret;
	r[4] = (uintptr_t)e;
	r[5] = r[6] = r[7] = 0;
	__atomic_store_n(&floor_at, floor_at + 8, __ATOMIC_RELEASE);
	return ret;
}

static double one_trial(one_argument f)
{
	uint64_t start = bench_now_ns();

	for (uint64_t i = 0; i < CALLS; i++)
		f((cl_event)(uintptr_t)i);
	return (double)(bench_now_ns() - start) / CALLS;
}

struct job {
	one_argument f;
	int cpu;
	double over, ratio; /* trials on an unshared core */
	double shared_over; /* trials on a shared core; 0 if too few trials */
	pthread_barrier_t *barrier;
};

static void *run_job(void *arg)
{
	static double known = 1e9; /* minimum of bench_least_busy() so far */
	struct job *j = arg;
	double over[3][TRIALS], ratio[3][TRIALS], least; /* indexed by enum bench_core */
	size_t count[3] = {0};

	bench_pin(j->cpu);
	least = bench_least_busy(NULL);
	least = least < known ? least : known;
	if (!j->barrier)
		known = least;
	floor_data = aligned_alloc(64, FLOOR_WORDS * 8);
	memset(floor_data, 1, FLOOR_WORDS * 8);
	one_trial(j->f);
	if (j->barrier)
		pthread_barrier_wait(j->barrier);
	for (int i = 0; i < TRIALS; i++) {
		double before = bench_busy(), bare = one_trial(real_retain),
		       beside = one_trial(floor_retain), mine = one_trial(j->f);
		enum bench_core kind = bench_alone(before, bench_busy(), least);

		ratio[kind][count[kind]] = mine / beside;
		over[kind][count[kind]++] = mine - bare;
	}
	if (count[BENCH_SHARED] >= 5)
		j->shared_over = bench_median(over[BENCH_SHARED], count[BENCH_SHARED]);
	if (count[BENCH_ALONE] < 5) { /* too few: use all trials */
		fprintf(stderr, "tool_cost: another program always used this core\n");
		count[0] = count[1];
		memcpy(over[0], over[1], sizeof over[0]);
		memcpy(ratio[0], ratio[1], sizeof ratio[0]);
	}
	j->over = count[0] ? bench_median(over[0], count[0]) : 0;
	j->ratio = count[0] ? bench_median(ratio[0], count[0]) : 0;
	free(floor_data);
	return NULL;
}

static void print(const char *key, const char *what, double value, const char *unit)
{
	char name[64];

	snprintf(name, sizeof name, "tool_%s%s", key, what);
	if (value > 0)
		bench_print(name, value, unit);
}

/* Return the mean over the threads that have a value. */
static double mean(const struct job *jobs, bool shared)
{
	double sum = 0;
	int count = 0;

	for (int i = 0; i < THREADS; i++) {
		double one = shared ? jobs[i].shared_over : jobs[i].over;

		sum += one;
		count += one > 0;
	}
	return count ? sum / count : 0;
}

static void measure(const char *key, one_argument f)
{
	struct job one = {.f = f, .cpu = 1}, jobs[THREADS];
	pthread_t threads[THREADS];
	pthread_barrier_t barrier;

	run_job(&one);
	print(key, "_over", one.over, "ns");
	print(key, "_ratio", one.ratio, "x");
	print(key, "_shared_over", one.shared_over, "ns");
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		jobs[i] = (struct job){.f = f, .cpu = i, .barrier = &barrier};
		pthread_create(&threads[i], NULL, run_job, &jobs[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	print(key, "_4t_over", mean(jobs, false), "ns");
	print(key, "_4t_shared_over", mean(jobs, true), "ns");
}

static void empty(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)call, (void)data, (void)user;
}

static struct gputap_context *ask(void)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *ctx;

	if (gputap_context_create(&opts, &ctx) ||
	    gputap_context_calls(ctx, GPUTAP_DOMAIN_OPENCL, NULL, 0, 0, empty, NULL))
		exit(2);
	return ctx;
}

static one_argument through_the_layer(void)
{
	static struct _cl_icd_dispatch target;
	cl_int (*init)(cl_uint, const cl_icd_dispatch *, cl_uint *, const cl_icd_dispatch **);
	const cl_icd_dispatch *got = NULL;
	cl_uint n = 0;

	target.clRetainEvent = real_retain;
	*(void **)&init = dlsym(RTLD_DEFAULT, "clInitLayer");
	if (!init || init(sizeof target / sizeof(void *), &target, &n, &got) != CL_SUCCESS ||
	    !got->clRetainEvent)
		exit(3);
	return got->clRetainEvent;
}

/* Push and pop an external id, as frameworks do for each operator. */
static void measure_pair(void)
{
	double trials[TRIALS];

	for (int t = 0; t < TRIALS; t++) {
		uint64_t begin = bench_now_ns();

		for (uint64_t i = 1; i <= CALLS; i++) {
			gputap_external_push(GPUTAP_STACK_OPERATION, i);
			gputap_external_pop(GPUTAP_STACK_OPERATION, NULL);
		}
		trials[t] = (double)(bench_now_ns() - begin) / CALLS;
	}
	bench_print("tool_external_pair", bench_median(trials, TRIALS), "ns");
}

int main(int argc, char **argv)
{
	struct gputap_context *ctx[4];
	one_argument f;

	real_retain = bench_runtime_retain;
	for (int i = 0; i < 4; i++)
		ctx[i] = ask();
	f = through_the_layer();
	if (argc == 3) {
		uintptr_t calls = strtoul(argv[1], NULL, 10);

		for (int i = 0; i < 4 && i < atoi(argv[2]); i++)
			gputap_context_start(ctx[i]);
		for (uintptr_t i = 0; i < calls; i++)
			f((cl_event)i);
		return 0;
	}
	measure("registered", f);
	gputap_context_start(ctx[0]);
	measure("callback", f);
	measure_pair();
	for (int i = 1; i < 4; i++)
		gputap_context_start(ctx[i]);
	measure("callback_4tools", f);
	return 0;
}
