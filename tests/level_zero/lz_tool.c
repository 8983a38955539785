/* SPDX-License-Identifier: MIT */
/* A tool for tests of Level Zero: counts calls by name, and device work. At its end it writes
 * "name count" of each function, and "work N timed N", to the file that LZ_TOOL names. It is a tool
 * from the start if it is preloaded, else once lz_tool_add() is called. Compiled with -DBY_CALL for
 * the latter. */
#include <gputap/tool.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATIONS = 1024, DOMAINS = 32 };

static struct gputap_context *context;
static _Atomic long calls[DOMAINS][OPERATIONS];
static _Atomic long work, timed, linked;

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	if (call->phase == GPUTAP_PHASE_ENTER)
		atomic_fetch_add(&calls[call->domain][call->operation], 1);
}

static void on_work(const struct gputap_work *item, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	if (item->phase != GPUTAP_PHASE_COMPLETE)
		return;
	atomic_fetch_add(&work, 1);
	atomic_fetch_add(&timed, item->status == 0);
	atomic_fetch_add(&linked, item->correlation != 0);
}

static int start(void *user)
{
	static const uint32_t domains[] = {GPUTAP_DOMAIN_LEVEL_ZERO, GPUTAP_DOMAIN_LEVEL_ZERO_TOOLS,
					   GPUTAP_DOMAIN_LEVEL_ZERO_SYSMAN,
					   GPUTAP_DOMAIN_LEVEL_ZERO_RUNTIME};
	struct gputap_context_opts opts = {.size = sizeof opts};
	int rc = gputap_context_create(&opts, &context);

	(void)user;
	for (unsigned i = 0; i < 4 && rc == 0; i++)
		rc = gputap_context_calls(context, domains[i], NULL, 0, 0, on_call, NULL);
	if (rc == 0)
		rc = gputap_context_work(context, GPUTAP_DOMAIN_LEVEL_ZERO, GPUTAP_WORK_ALL,
					 on_work, NULL);
	return rc ? rc : gputap_context_start(context);
}

static void finish(void *user)
{
	FILE *out = fopen(getenv("LZ_TOOL"), "w");

	(void)user;
	if (!out)
		return;
	for (uint32_t d = 0; d < DOMAINS; d++)
		for (uint32_t i = 0; i < OPERATIONS; i++)
			if (calls[d][i])
				fprintf(out, "%s %ld\n", gputap_operation_name(d, i), calls[d][i]);
	fprintf(out, "work %ld\ntimed %ld\nlinked %ld\n", work, timed, linked);
	fclose(out);
}

static struct gputap_tool tool = {sizeof tool, GPUTAP_TOOL_ABI, 0,    "lz_tool",
				  start,       finish,          NULL, 0};

#ifdef BY_CALL
int lz_tool_add(void)
{
	return gputap_tool_add(&tool);
}
#else
const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	(void)version;
	return &tool;
}
#endif
