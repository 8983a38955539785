/* SPDX-License-Identifier: MIT */
/* A tool that counts calls of each function in the CUDA driver API, and prints the counts on stderr
 * in the format that the traced program uses on stdout. */
#include <gputap/tool.h>

#include <stdatomic.h>
#include <stdio.h>

enum { NUMBERS = 4096 };

static _Atomic long calls[NUMBERS];
static struct gputap_context *context;

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	if (call->phase == GPUTAP_CALL_PHASE_ENTER && call->operation < NUMBERS)
		calls[call->operation]++;
}

static int start(void *user)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	int rc = gputap_context_create(&opts, &context);

	(void)user;
	rc = rc ? rc
		: gputap_context_calls(context, GPUTAP_DOMAIN_CUDA_DRIVER, NULL, 0, 0, on_call,
				       NULL);
	return rc ? rc : gputap_context_start(context);
}

static void finish(void *user)
{
	(void)user;
	fprintf(stderr, "{");
	for (uint32_t i = 0; i < NUMBERS; i++)
		if (calls[i])
			fprintf(stderr, "\"%s\": %ld, ",
				gputap_operation_name(GPUTAP_DOMAIN_CUDA_DRIVER, i), calls[i]);
	fprintf(stderr, "\"total\": 0}\n");
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {.size = sizeof tool,
						.abi = GPUTAP_TOOL_ABI,
						.name = "call_counter",
						.start = start,
						.finish = finish};

	(void)version;
	return &tool;
}
