/* SPDX-License-Identifier: MIT */
#include "ranges.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gputap/gputap.h>

#include "compat/roctx/roctx.h"
#include "tests/ranges/nvtx_client.h"

enum { DEEPEST = 16 };

static const char *source = "gputap";
static _Thread_local char names[DEEPEST][64];
static _Thread_local uint64_t started[DEEPEST];
static _Thread_local int depth;

struct itt_id {
	unsigned long long d1, d2, d3;
};
static struct {
	void *(*make_domain)(const char *name);
	void *(*make_string)(const char *name);
	void (*begin)(const void *domain, struct itt_id task, struct itt_id parent,
		      const void *name);
	void (*end)(const void *domain);
	void *domain;
} itt;

static int open_itt(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;

	if (!library)
		return 1;
	itt.make_domain = (__typeof__(itt.make_domain))dlsym(library, "__itt_domain_create");
	itt.make_string = (__typeof__(itt.make_string))dlsym(library, "__itt_string_handle_create");
	itt.begin = (__typeof__(itt.begin))dlsym(library, "__itt_task_begin");
	itt.end = (__typeof__(itt.end))dlsym(library, "__itt_task_end");
	itt.domain = itt.make_domain("tests");
	return 0;
}

int choose_source(const char *name)
{
	source = strdup(name);
	if (!strncmp(name, "nvtx", 4))
		return !open_nvtx();
	return !strcmp(name, "itt") && open_itt();
}

void begin_range(const char *name)
{
	const struct itt_id none = {0, 0, 0};

	strncpy(names[depth], name, sizeof names[depth] - 1);
	if (!strcmp(source, "gputap"))
		gputap_range_begin(names[depth], (uint64_t)depth + 1, NULL);
	else if (!strcmp(source, "roctx"))
		roctxRangePushA(name);
	else if (!strcmp(source, "roctx-start"))
		started[depth] = roctxRangeStartA(name);
	else if (!strcmp(source, "nvtx"))
		nvtxRangePushA(name);
	else if (!strcmp(source, "nvtx-start"))
		started[depth] = nvtxRangeStartA(name);
	else
		itt.begin(itt.domain, none, none, itt.make_string(name));
	depth++;
}

void end_range(void)
{
	depth--;
	if (!strcmp(source, "gputap"))
		gputap_range_end((uint64_t)depth + 1);
	else if (!strcmp(source, "roctx"))
		roctxRangePop();
	else if (!strcmp(source, "roctx-start"))
		roctxRangeStop(started[depth]);
	else if (!strcmp(source, "nvtx"))
		nvtxRangePop();
	else if (!strcmp(source, "nvtx-start"))
		nvtxRangeEnd(started[depth]);
	else
		itt.end(itt.domain);
}
