/* SPDX-License-Identifier: MIT */
/* What a call costs that tools are told of, through the real library: this program plays the OpenCL loader, as tap_cost.c does,
 * and is a tool with an empty callback. Beside it, in the same run: the bare call, and the floor (two time stamps around the
 * call and a 64-byte record).
 *
 * Prints "key value unit" lines; *_ratio: of the floor; *_over: ns more than the bare call. Each trial of one kind stands
 * beside a trial of the other, and the median is taken of their differences and ratios. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "gputap/tool.h"
#include "measure.h"

enum { CALLS = 40000, TRIALS = 61, THREADS = 4, FLOOR_WORDS = 1 << 17 };

typedef cl_int (*one_argument)(cl_event);

__attribute__((noinline)) static cl_int real_retain(cl_event e)
{
	__asm__ volatile("" : : "r"(e));
	return 0;
}

static one_argument floor_real = real_retain;
static _Thread_local uint64_t floor_at, *floor_data;

__attribute__((noinline)) static cl_int floor_retain(cl_event e)
{
	uint64_t start = __rdtsc(), *r = &floor_data[floor_at % FLOOR_WORDS];
	cl_int ret = floor_real(e);

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
	double over, ratio;
	pthread_barrier_t *barrier;
};

static void *run_job(void *arg)
{
	struct job *j = arg;
	double over[TRIALS], ratio[TRIALS];

	if (j->barrier)
		bench_pin(j->cpu);
	floor_data = aligned_alloc(64, FLOOR_WORDS * 8);
	memset(floor_data, 1, FLOOR_WORDS * 8);
	one_trial(j->f);
	if (j->barrier)
		pthread_barrier_wait(j->barrier);
	for (int i = 0; i < TRIALS; i++) {
		double bare = one_trial(real_retain), least = one_trial(floor_retain), mine = one_trial(j->f);

		over[i] = mine - bare;
		ratio[i] = mine / least;
	}
	j->over = bench_median(over, TRIALS);
	j->ratio = bench_median(ratio, TRIALS);
	free(floor_data);
	return NULL;
}

static void measure(const char *key, one_argument f)
{
	struct job one = {.f = f, .cpu = 1}, jobs[THREADS];
	pthread_t threads[THREADS];
	pthread_barrier_t barrier;
	double sum = 0;
	char name[64];

	run_job(&one);
	snprintf(name, sizeof name, "tool_%s_over", key);
	bench_print(name, one.over, "ns");
	snprintf(name, sizeof name, "tool_%s_ratio", key);
	bench_print(name, one.ratio, "x");
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		jobs[i] = (struct job){.f = f, .cpu = i, .barrier = &barrier};
		pthread_create(&threads[i], NULL, run_job, &jobs[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += jobs[i].over;
	}
	snprintf(name, sizeof name, "tool_%s_4t_over", key);
	bench_print(name, sum / THREADS, "ns");
}

static void empty(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)call, (void)data, (void)user;
}

static struct gputap_context *ask(void)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *ctx;

	if (gputap_context_create(&opts, &ctx) || gputap_context_calls(ctx, GPUTAP_DOMAIN_OPENCL, NULL, 0, 0, empty, NULL))
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
	if (!init || init(sizeof target / sizeof(void *), &target, &n, &got) != CL_SUCCESS || !got->clRetainEvent)
		exit(3);
	return got->clRetainEvent;
}

int main(void)
{
	struct gputap_context *ctx[4];
	one_argument f;

	for (int i = 0; i < 4; i++)
		ctx[i] = ask();
	f = through_the_layer();
	measure("registered", f);
	gputap_context_start(ctx[0]);
	measure("callback", f);
	for (int i = 1; i < 4; i++)
		gputap_context_start(ctx[i]);
	measure("callback_4tools", f);
	return 0;
}
