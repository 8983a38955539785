/* SPDX-License-Identifier: MIT */
/* Print every call of OpenCL and HIP with its arguments, then its result and the values that it
 * wrote:
 *
 *   [4711] clGetPlatformIDs(num_entries=16, platforms=0x7ffe.., num_platforms=0x7ffe..)
 *   [4711] clGetPlatformIDs: ok after 1.8 us, platforms=[0x7f84..], num_platforms=1
 *
 * The number in brackets is the thread id.
 * cc -shared -fPIC print_calls.c -o print_calls.so -lgputap
 * LD_PRELOAD=libgputap.so.0 GPUTAP_TOOLS=./print_calls.so program */
#include <gputap/tool.h>

#include <stdio.h>
#include <string.h>

static struct gputap_context *context;

struct line {
	char text[8192];
	size_t used;
	int ended; /* 1: print only values that the call has written */
};

static int add_argument(const struct gputap_argument *a, void *user)
{
	struct line *l = user;
	const char *comma = a->number || l->ended ? ", " : "";

	if (l->used < sizeof l->text &&
	    (!l->ended || (a->dereferenced && strncmp(a->type, "const ", 6))))
		l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s=%s",
					    comma, a->name, a->text);
	return 0;
}

static const char *status_of(const struct gputap_call *call, char text[32])
{
	int32_t status;
	const char *name;

	if (gputap_call_has_failed(call, &status) <= 0) /* the call succeeded, or has no status */
		return "ok";
	name = gputap_status_name(call->domain, status);
	snprintf(text, 32, "status %d", status);
	return name ? name : text;
}

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	const char *name = gputap_operation_name(call->domain, call->operation);
	unsigned long thread = (unsigned long)call->thread;
	uint64_t ns = gputap_now() - *data;
	struct line line;
	char status[32];

	(void)user;
	line.text[0] = '\0';
	line.used = 0;
	line.ended = call->phase == GPUTAP_CALL_PHASE_EXIT;
	gputap_call_arguments(call, 1, add_argument, &line);
	if (call->phase == GPUTAP_CALL_PHASE_EXIT)
		fprintf(stderr, "[%lu] %s: %s after %.*f %s%s\n", thread, name,
			status_of(call, status), ns < 1000000 ? 1 : 3,
			(double)ns / (ns < 1000000 ? 1e3 : 1e6), ns < 1000000 ? "us" : "ms",
			line.text);
	else
		fprintf(stderr, "[%lu] %s(%s)\n", thread, name, line.text);
	*data = gputap_now();
}

static int start(void *user)
{
	struct gputap_context_opts opts = {.size = sizeof opts};
	int rc = gputap_context_create(&opts, &context);

	(void)user;
	if (rc == 0)
		rc = gputap_context_calls(context, GPUTAP_DOMAIN_OPENCL, NULL, 0, 0, on_call, NULL);
	if (rc == 0)
		rc = gputap_context_calls(context, GPUTAP_DOMAIN_HIP, NULL, 0, 0, on_call, NULL);
	return rc ? rc : gputap_context_start(context);
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {.size = sizeof tool,
						.abi = GPUTAP_TOOL_ABI,
						.name = "print_calls",
						.start = start};

	(void)version;
	return &tool;
}
