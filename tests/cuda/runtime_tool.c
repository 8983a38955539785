/* SPDX-License-Identifier: MIT */
/* A tool that is notified of CUDA runtime calls and of cuLaunchKernel, and prints each
 * notification:
 * phase, name, number, parent, status, arguments. RUNTIME_TOOL=late: the context starts at the
 * first cuMemAlloc_v2, in the middle of a runtime call. RUNTIME_TOOL=work: the tool is notified
 * only of runtime calls and GPU activities. */
#include <gputap/tool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gputap_context *context, *early;

static int print_argument(const struct gputap_argument *a, void *user)
{
	FILE *to = user;

	fprintf(to, " %s=%s", a->name, a->text);
	return 0;
}

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	char line[1024];
	FILE *to = fmemopen(line, sizeof line, "w");
	const char *name = gputap_operation_name(call->domain, call->operation);
	int32_t status = -1;

	(void)user;
	if (call->phase == GPUTAP_CALL_PHASE_ENTER) {
		*data = call->correlation;
		fprintf(to, "enter %s %llu %llu", name, (unsigned long long)call->correlation,
			(unsigned long long)call->parent);
	} else {
		gputap_call_has_failed(call, &status);
		fprintf(to, "exit %s %llu %d%s", name, (unsigned long long)call->correlation,
			status, *data == call->correlation ? "" : " OTHER");
		gputap_call_arguments(call, 1, print_argument, to);
	}
	fclose(to);
	printf("tool: %s\n", line);
}

static void on_activity(const struct gputap_activity *activity, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	if (activity->phase == GPUTAP_ACTIVITY_PHASE_COMPLETE)
		printf("tool: work %u %llu\n", activity->type,
		       (unsigned long long)activity->correlation);
}

static void start_late(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	if (call->phase == GPUTAP_CALL_PHASE_EXIT)
		gputap_context_start(context);
}

static int start(void *user)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	const uint32_t launch = 307, allocation = 243;
	const char *how = getenv("RUNTIME_TOOL");

	(void)user;
	if (gputap_context_create(&opts, &context) || gputap_context_create(&opts, &early) ||
	    gputap_context_calls(context, GPUTAP_DOMAIN_CUDA_RUNTIME, NULL, 0, 0, on_call, NULL))
		return -1;
	if (how && !strcmp(how, "work"))
		return gputap_context_activities(context, GPUTAP_DOMAIN_CUDA_DRIVER,
						 GPUTAP_ACTIVITY_ALL, on_activity, NULL) ||
		       gputap_context_start(context);
	if (gputap_context_calls(context, GPUTAP_DOMAIN_CUDA_DRIVER, &launch, 1, 0, on_call, NULL))
		return -1;
	if (!how || strcmp(how, "late"))
		return gputap_context_start(context);
	return gputap_context_calls(early, GPUTAP_DOMAIN_CUDA_DRIVER, &allocation, 1, 0, start_late,
				    NULL) ||
	       gputap_context_start(early);
}

static const struct gputap_tool tool = {.size = sizeof tool,
					.abi = GPUTAP_TOOL_ABI,
					.name = "runtime",
					.start = start};

__attribute__((visibility("default"))) const struct gputap_tool *gputap_tool_describe(
	uint32_t version)
{
	(void)version;
	return &tool;
}
