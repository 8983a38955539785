/* SPDX-License-Identifier: MIT */
/* A tool that is notified of CUDA's GPU activities. At exit it prints as JSON on stderr how many
 * activities began, were submitted and completed, their types, and the errors that it found. */
#include <gputap/tool.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { TYPES = 16 };

static _Atomic long phases[3], types[TYPES], wrong, linked, from_graphs, bytes;
static struct gputap_context *context;

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)call;
	(void)data;
	(void)user;
}

static void on_activity(const struct gputap_activity *activity, uint64_t *data, void *user)
{
	(void)user;
	if (activity->phase == GPUTAP_ACTIVITY_PHASE_ENTER) {
		phases[0]++;
		wrong += *data != 0;
		*data = activity->correlation;
		return;
	}
	wrong += *data != activity->correlation;
	if (activity->phase == GPUTAP_ACTIVITY_PHASE_EXIT) {
		phases[1]++;
		return;
	}
	phases[2]++;
	types[activity->type % TYPES]++;
	linked += activity->correlation != 0;
	from_graphs += activity->graph != 0;
	bytes += (long)activity->bytes;
	wrong += !activity->start || activity->end < activity->start || !activity->queue ||
		 !activity->device;
	wrong += activity->type == GPUTAP_ACTIVITY_KERNEL &&
		 (!activity->name || !activity->grid[0] || !activity->group[0]);
}

static int start(void *user)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	int rc = gputap_context_create(&opts, &context);

	(void)user;
	rc = rc ? rc
		: gputap_context_calls(context, GPUTAP_DOMAIN_CUDA_DRIVER, NULL, 0, 0, on_call,
				       NULL);
	rc = rc ? rc
		: gputap_context_activities(context, GPUTAP_DOMAIN_CUDA_DRIVER, GPUTAP_ACTIVITY_ALL,
					    on_activity, NULL);
	return rc ? rc : gputap_context_start(context);
}

static void finish(void *user)
{
	(void)user;
	fprintf(stderr,
		"{\"enter\": %ld, \"exit\": %ld, \"complete\": %ld, \"kernel\": %ld, "
		"\"read\": %ld, \"write\": %ld, \"copy\": %ld, \"fill\": %ld, \"linked\": %ld, "
		"\"from_graphs\": %ld, \"bytes\": %ld, \"wrong\": %ld}\n",
		phases[0], phases[1], phases[2], types[GPUTAP_ACTIVITY_KERNEL],
		types[GPUTAP_ACTIVITY_READ], types[GPUTAP_ACTIVITY_WRITE],
		types[GPUTAP_ACTIVITY_COPY], types[GPUTAP_ACTIVITY_FILL], linked, from_graphs,
		bytes, wrong);
}

const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	static const struct gputap_tool tool = {.size = sizeof tool,
						.abi = GPUTAP_TOOL_ABI,
						.name = "work_counter",
						.start = start,
						.finish = finish};

	(void)version;
	return &tool;
}
