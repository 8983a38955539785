/* SPDX-License-Identifier: MIT */
/* Correlation: a tool that reports when a launch retires, after its kernel has ended. The tool
 * suppresses its own calls.
 *
 *     cc -shared -fPIC retirement.c -lgputap -o retirement.so
 *     gputap run --tool ./retirement.so ./program */
#include <gputap/tool.h>
#include <stdio.h>

enum { CALLS = 4096 };
static struct {
	uint64_t correlation, start;
} calls[CALLS]; /* the most recent calls, by correlation */

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)data, (void)user;
	if (call->phase != GPUTAP_CALL_PHASE_ENTER)
		return;
	/* tools are not notified of OpenCL calls before gputap_suppress_end() */
	gputap_suppress_begin();
	calls[call->correlation % CALLS].start = gputap_now();
	calls[call->correlation % CALLS].correlation = gputap_correlation();
	gputap_suppress_end();
}

/* Subscribing to activities delays the call's retirement until they have completed. */
static void on_kernel(const struct gputap_activity *kernel, uint64_t *data, void *user)
{
	(void)kernel, (void)data, (void)user;
}

static void on_retired(uint64_t correlation, uint64_t time, void *user)
{
	(void)user;
	if (calls[correlation % CALLS].correlation == correlation)
		fprintf(stderr, "call %llu retired after %.1f us\n",
			(unsigned long long)correlation,
			(double)(time - calls[correlation % CALLS].start) / 1e3);
}

static int start(void *user)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	int number = gputap_operation_find(GPUTAP_DOMAIN_OPENCL, "clEnqueueNDRangeKernel");
	uint32_t launch = (uint32_t)number;
	struct gputap_context *context;

	(void)user;
	if (number < 0 || gputap_context_create(&opts, &context) ||
	    gputap_context_calls(context, GPUTAP_DOMAIN_OPENCL, &launch, 1, GPUTAP_CALLS_DEFAULT,
				 on_call, NULL) ||
	    gputap_context_activities(context, GPUTAP_DOMAIN_OPENCL,
				      GPUTAP_ACTIVITY_BIT(GPUTAP_ACTIVITY_KERNEL), on_kernel,
				      NULL) ||
	    gputap_context_retirement(context, on_retired, NULL))
		return -1;
	return gputap_context_start(context);
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {.size = sizeof tool,
						.abi = GPUTAP_TOOL_ABI,
						.name = "retirement",
						.start = start};

	(void)version;
	return &tool;
}
