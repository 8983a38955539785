/* SPDX-License-Identifier: MIT */
/* Print every call of OpenCL and HIP with its arguments, and what came of it:
 *
 *   clCreateBuffer(context=0x55.., flags=CL_MEM_READ_ONLY, size=4096, host_ptr=NULL, errcode_ret=0x7f..)
 *   clCreateBuffer: ok after 1.2 us
 *
 * cc -shared -fPIC print_calls.c -o print_calls.so -lgputap
 * LD_PRELOAD=libgputap.so.0 GPUTAP_TOOLS=./print_calls.so program */
#include <gputap/tool.h>

#include <stdio.h>

static struct gputap_context *context;

struct line {
	char text[4096];
	size_t used;
};

static int add_argument(const struct gputap_argument *a, void *user)
{
	struct line *l = user;

	if (l->used < sizeof l->text)
		l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s=%s", a->number ? ", " : "", a->name, a->text);
	return 0;
}

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	const char *name = gputap_operation_name(call->domain, call->operation);
	struct line line = {.text = ""};
	int32_t status;
	int failed;

	(void)user;
	if (call->phase == GPUTAP_PHASE_ENTER) {
		/* 0: what an output points to is not written yet */
		gputap_call_arguments(call, 0, add_argument, &line);
		fprintf(stderr, "%s(%s)\n", name, line.text);
		*data = gputap_now();
		return;
	}
	failed = gputap_call_status(call, &status);
	if (failed > 0 && gputap_status_name(call->domain, status))
		snprintf(line.text, sizeof line.text, "%s", gputap_status_name(call->domain, status));
	else
		snprintf(line.text, sizeof line.text, failed > 0 ? "status %d" : "ok", failed > 0 ? status : 0);
	fprintf(stderr, "%s: %s after %.1f us\n", name, line.text, (double)(gputap_now() - *data) / 1000);
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
	static const struct gputap_tool tool = {.size = sizeof tool, .abi = GPUTAP_TOOL_ABI, .name = "print_calls", .start = start};

	(void)version;
	return &tool;
}
