/* SPDX-License-Identifier: MIT */
/* Print a histogram of each kernel's time on the device, in powers of two, on stderr when the
 * program ends:
 *
 *   saxpy: 64 launches, 8.7 us each
 *         4.1 -      8.2 us  ##############                     28
 *         8.2 -     16.4 us  ##################                 36
 *
 * LD_PRELOAD=libgputap.so.0 GPUTAP_TOOLS=./kernel_histogram.so program */
#include <gputap/tool.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { KERNELS = 256, POWERS = 40, WIDTH = 30 };

static struct gputap_context *context;
/* several devices complete GPU activities at the same time */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct kernel {
	char name[200];
	uint64_t ns;
	unsigned launches, times[POWERS]; /* times[n]: kernels of 2^n ns to 2^(n+1) ns */
} kernels[KERNELS];

static struct kernel *kernel_of(const char *name)
{
	for (struct kernel *k = kernels; k < kernels + KERNELS; k++) {
		if (!k->name[0])
			snprintf(k->name, sizeof k->name, "%s", name);
		if (strncmp(k->name, name, sizeof k->name - 1) == 0)
			return k;
	}
	return NULL;
}

static void on_activity(const struct gputap_activity *activity, uint64_t *data, void *user)
{
	struct kernel *k;

	(void)data, (void)user;
	if (activity->phase != GPUTAP_ACTIVITY_PHASE_COMPLETE)
		return;
	pthread_mutex_lock(&lock);
	k = kernel_of(activity->name ? activity->name : "(no name)");
	if (k && activity->end > activity->start) { /* otherwise the times are not known */
		int power = 63 - __builtin_clzll(activity->end - activity->start);

		k->launches++;
		k->ns += activity->end - activity->start;
		k->times[power < POWERS ? power : POWERS - 1]++;
	}
	pthread_mutex_unlock(&lock);
}

static int start(void *user)
{
	/* HSA reports HIP's kernels */
	const uint32_t domains[] = {GPUTAP_DOMAIN_OPENCL, GPUTAP_DOMAIN_HSA_CORE};
	struct gputap_context_opts opts = {.size = sizeof opts};
	int rc = gputap_context_create(&opts, &context);

	(void)user;
	for (int i = 0; rc == 0 && i < 2; i++)
		rc = gputap_context_activities(context, domains[i],
					       GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_KERNEL),
					       on_activity, NULL);
	return rc ? rc : gputap_context_start(context);
}

/* Print the classes from the shortest to the longest, including empty classes, so that gaps are
 * visible. */
static void show(const struct kernel *k)
{
	int first = 0, last = POWERS - 1;

	fprintf(stderr, "%s: %u launches, %.1f us each\n", k->name, k->launches,
		(double)k->ns / 1e3 / k->launches);
	for (; first < last && !k->times[first]; first++)
		;
	for (; last > first && !k->times[last]; last--)
		;
	for (int n = first; n <= last; n++)
		fprintf(stderr, "%9.1f - %8.1f us  %-*.*s %6u\n", (double)(UINT64_C(1) << n) / 1e3,
			(double)(UINT64_C(2) << n) / 1e3, WIDTH,
			(int)(((uint64_t)k->times[n] * WIDTH + k->launches - 1) / k->launches),
			"##############################", k->times[n]);
}

static void finish(void *user)
{
	(void)user;
	gputap_context_stop(context);
	for (const struct kernel *k = kernels; k < kernels + KERNELS && k->name[0]; k++)
		if (k->launches)
			show(k);
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {.size = sizeof tool,
						.abi = GPUTAP_TOOL_ABI,
						.name = "kernel_histogram",
						.start = start,
						.finish = finish};

	(void)version;
	return &tool;
}
