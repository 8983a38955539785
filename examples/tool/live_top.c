/* SPDX-License-Identifier: MIT */
/* Print the most frequently called operations on stderr while the program runs, twice a second.
 *
 * The callback only counts calls. The tool's own thread reads the counts. This thread makes no
 * runtime calls, so it does not appear in the counts.
 * LD_PRELOAD=libgputap.so.0 GPUTAP_TOOLS=./live_top.so program */
#include <gputap/tool.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { OPERATIONS = 1024, ALL = 16 * OPERATIONS, LINES = 5, NAP_US = 50000, NAPS = 10 };

static struct gputap_context *context;
static _Atomic uint32_t counts[ALL]; /* indexed by domain, then operation */
static uint32_t shown[ALL];
static pthread_t thread;
static _Atomic int over;

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)data, (void)user;
	if (call->phase == GPUTAP_CALL_PHASE_ENTER && call->operation < OPERATIONS)
		atomic_fetch_add_explicit(&counts[call->domain * OPERATIONS + call->operation], 1,
					  memory_order_relaxed);
}

/* Print the highest rates since the previous call. */
static void show(double at_seconds, double seconds)
{
	static uint32_t now[ALL];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ALL; i++) {
		now[i] = atomic_load_explicit(&counts[i], memory_order_relaxed) - shown[i];
		shown[i] += now[i];
		sum += now[i];
	}
	fprintf(stderr, "-- at %.1f s, %.0f calls a second\n", at_seconds, (double)sum / seconds);
	for (int line = 0; line < LINES; line++) {
		uint32_t most = 0;

		for (uint32_t i = 1; i < ALL; i++)
			most = now[i] > now[most] ? i : most;
		if (!now[most])
			break;
		fprintf(stderr, "%12.0f %s\n", now[most] / seconds,
			gputap_operation_name(most / OPERATIONS, most % OPERATIONS));
		now[most] = 0;
	}
}

static void *watch(void *arg)
{
	uint64_t begin = gputap_now(), last = begin, now;

	for (int nap = 1; !over; nap++) {
		usleep(NAP_US);
		if (nap % NAPS && !over)
			continue;
		now = gputap_now();
		show((double)(now - begin) / 1e9, (double)(now - last) / 1e9);
		last = now;
	}
	return arg;
}

static int ask(enum gputap_domain domain, const char *name, void *user)
{
	(void)name, (void)user;
	gputap_context_calls(context, domain, NULL, 0, 0, on_call, NULL);
	return 0;
}

static int start(void *user)
{
	struct gputap_context_opts opts = {.size = sizeof opts};

	(void)user;
	if (gputap_context_create(&opts, &context) || gputap_domains_iterate(ask, NULL) ||
	    pthread_create(&thread, NULL, watch, NULL))
		return -1;
	return gputap_context_start(context);
}

static void finish(void *user)
{
	(void)user;
	over = 1;
	pthread_join(thread, NULL);
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {.size = sizeof tool,
						.abi = GPUTAP_TOOL_ABI,
						.name = "live_top",
						.start = start,
						.finish = finish};

	(void)version;
	return &tool;
}
