/* SPDX-License-Identifier: MIT */
/* A tool that counts calls and activities of the toy runtime, which it knows only by name. */
#include <stdio.h>
#include <string.h>

#include <gputap/tool.h>

static unsigned calls, kernels, copies, named;

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	calls += call->phase == GPUTAP_CALL_PHASE_ENTER;
}

static void on_activity(const struct gputap_activity *activity, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	if (activity->phase != GPUTAP_ACTIVITY_PHASE_COMPLETE || !activity->end)
		return;
	kernels += activity->type == GPUTAP_ACTIVITY_KERNEL;
	copies += activity->type == GPUTAP_ACTIVITY_COPY && activity->bytes == 4096;
	named += activity->name && !strcmp(activity->name, "scale");
}

static int begin(void *user)
{
	int domain = gputap_domain_find("toy");
	struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *ctx;

	(void)user;
	if (domain < 0 || gputap_context_create(&opts, &ctx) ||
	    gputap_context_calls(ctx, (enum gputap_domain)domain, NULL, 0, 0, on_call, NULL) ||
	    gputap_context_activities(ctx, (enum gputap_domain)domain, GPUTAP_ACTIVITY_ALL,
				      on_activity, NULL))
		return -1;
	return gputap_context_start(ctx);
}

static void end(void *user)
{
	(void)user;
	printf("%u calls, %u kernels, %u of them scale, %u copies\n", calls, kernels, named,
	       copies);
	fflush(stdout);
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {
		.size = sizeof tool,
		.abi = GPUTAP_TOOL_ABI,
		.name = "toy counter",
		.start = begin,
		.finish = end,
	};

	(void)version;
	return &tool;
}
