/* SPDX-License-Identifier: MIT */
/* A tool that is notified of CUDA's GPU activities. At exit it prints on stderr, as JSON: how many
 * began, were submitted and completed; of which type; and what was wrong with them. */
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

static void on_work(const struct gputap_work *work, uint64_t *data, void *user)
{
	(void)user;
	if (work->phase == GPUTAP_ACTIVITY_PHASE_ENTER) {
		phases[0]++;
		wrong += *data != 0;
		*data = work->correlation;
		return;
	}
	wrong += *data != work->correlation;
	if (work->phase == GPUTAP_ACTIVITY_PHASE_EXIT) {
		phases[1]++;
		return;
	}
	phases[2]++;
	types[work->type % TYPES]++;
	linked += work->correlation != 0;
	from_graphs += work->graph != 0;
	bytes += (long)work->bytes;
	wrong += !work->start || work->end < work->start || !work->queue || !work->device;
	wrong += work->type == GPUTAP_WORK_KERNEL &&
		 (!work->name || !work->grid[0] || !work->group[0]);
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
		: gputap_context_work(context, GPUTAP_DOMAIN_CUDA_DRIVER, GPUTAP_WORK_ALL, on_work,
				      NULL);
	return rc ? rc : gputap_context_start(context);
}

static void finish(void *user)
{
	(void)user;
	fprintf(stderr,
		"{\"enter\": %ld, \"exit\": %ld, \"complete\": %ld, \"kernel\": %ld, "
		"\"read\": %ld, \"write\": %ld, \"copy\": %ld, \"fill\": %ld, \"linked\": %ld, "
		"\"from_graphs\": %ld, \"bytes\": %ld, \"wrong\": %ld}\n",
		phases[0], phases[1], phases[2], types[GPUTAP_WORK_KERNEL], types[GPUTAP_WORK_READ],
		types[GPUTAP_WORK_WRITE], types[GPUTAP_WORK_COPY], types[GPUTAP_WORK_FILL], linked,
		from_graphs, bytes, wrong);
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
