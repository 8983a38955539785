/* SPDX-License-Identifier: MIT */
/* Measures the cost of a plug-in for its program, with the reference accelerator's plug-in: a push
 * and a pop, which torch makes for each operator, and reading a record after a session.
 *
 *     KINETO_PLUGIN_PATH=build/soft/refdev/librefdev_pu1.so build/bench/plugin_cost [items] */
#include <dlfcn.h>

#include <gputap/PrivateUse1TracingApi.h>
#include <gputap/plugin.h>

#include "measure.h"

enum { ROUNDS = 21, PAIRS = 1000000, RECORDS = 1024 };

/* Return the CPU time of this thread, so that other programs do not count. */
static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static double push_pop_ns(const struct gputap_plugin_stacks *stacks)
{
	double rounds[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = cpu_ns();

		for (uint64_t id = 1; id <= PAIRS; id++) {
			stacks->push(id);
			stacks->pop();
		}
		rounds[i] = (double)(cpu_ns() - start) / PAIRS;
	}
	return bench_median(rounds, ROUNDS);
}

static pu1Result exercise(uint32_t items)
{
	struct gputap_plugin plugin = {.size = sizeof plugin};
	pu1Result (*run)(uint32_t);

	gputap_plugins_at(0, &plugin);
	*(void **)&run = dlsym(dlopen(plugin.path, RTLD_NOW | RTLD_NOLOAD), "pu1Exercise");
	return run ? run(items) : PU1_ERROR_NOT_SUPPORTED;
}

int main(int argc, char **argv)
{
	uint32_t items = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1000000;
	static struct gputap_plugin_record records[RECORDS];
	uint64_t start, stopped;
	long n, count = 0;

	if (gputap_plugins_load(NULL) < 1)
		return 1;
	printf("plugin_push_pop %.2f ns\n", push_pop_ns(gputap_plugins_stacks()));
	if (gputap_plugins_start(NULL) < 1 || exercise(items))
		return 1;
	start = cpu_ns();
	gputap_plugins_stop();
	stopped = cpu_ns();
	while ((n = gputap_plugins_read(records, RECORDS)) > 0)
		count += n;
	printf("plugin_stop %.0f ns\n", (double)(stopped - start));
	printf("plugin_read %.1f ns\n", (double)(cpu_ns() - stopped) / (double)count);
	printf("plugin_records %ld records\n", count);
	return 0;
}
