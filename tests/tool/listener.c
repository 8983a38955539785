/* SPDX-License-Identifier: MIT */
/* A tool for tests: counts calls per domain, and prints its callbacks, each line at once.
 *
 * LISTENER="words": silent (describe nothing), fail (start() fails), abi (of another version),
 * tables (subscribes; wraps hipMalloc), calls (print each HIP or OpenCL call), threads, again (call
 * and be called in finish), priority=N. Compiled with -DNAME and, for a tool that is added with a
 * call, -DBY_CALL; for one that announces itself, -DANNOUNCES. */
#include <gputap/tool.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NAME
#define NAME "listener"
#endif

static struct gputap_context *context;
static _Atomic int counts[16];
static int constructed;

static int says(const char *word)
{
	const char *words = getenv("LISTENER");

	return words && strstr(words, word) != NULL;
}

#define TELL(...) dprintf(STDOUT_FILENO, NAME ": " __VA_ARGS__)

static void on_call(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)data;
	(void)user;
	if (call->phase != GPUTAP_CALL_PHASE_ENTER)
		return;
	atomic_fetch_add(&counts[call->domain], 1);
	if (says("calls") && call->domain <= GPUTAP_DOMAIN_HIP_COMPILER)
		TELL("call %u.%u\n", call->domain, call->operation);
}

static void on_event(const struct gputap_event *event, void *user)
{
	(void)user;
	if (event->code == GPUTAP_EVENT_TOOL)
		TELL("event %s\n", event->text);
}

/* HIP's table: hipMalloc is entry 215. */
static int (*real_malloc)(void **, size_t);

static int my_malloc(void **p, size_t bytes)
{
	TELL("hipMalloc %zu\n", bytes);
	return real_malloc(p, bytes);
}

static void on_table(const struct gputap_table *table, void *user)
{
	int (*missing)(void);
	size_t empty = 0;

	(void)user;
	TELL("table %u of instance %u: %zu bytes\n", table->domain, table->instance, table->bytes);
	if (table->domain != GPUTAP_DOMAIN_HIP)
		return;
	if (*(uint64_t *)(void *)table->entries != table->bytes)
		TELL("its size says %lu\n", *(unsigned long *)(void *)table->entries);
	for (size_t i = 1; i < table->bytes / sizeof(void *); i++)
		empty += !table->entries[i];
	/* hipExternalMemoryGetMappedMipmappedArray, which 5.2 does not have and 7.2 does not
	 * export */
	missing = (int (*)(void))(uintptr_t)table->entries[1 + 458];
	TELL("%zu empty, missing ones say %d\n", empty, missing());
	real_malloc = (int (*)(void **, size_t))(uintptr_t)table->entries[1 + 215];
	table->entries[1 + 215] = (void *)(uintptr_t)my_malloc;
}

static int start(void *user)
{
	struct gputap_context_opts opts = {.size = sizeof opts};
	int rc = gputap_context_create(&opts, &context);

	(void)user;
	TELL("start, %s\n", constructed ? "constructed" : "not constructed");
	if (*gputap_tool_arguments())
		TELL("arguments at start: %s\n", gputap_tool_arguments());
	for (uint32_t d = GPUTAP_DOMAIN_OPENCL; d <= GPUTAP_DOMAIN_ROCTX && rc == 0; d++)
		rc = gputap_context_calls(context, d, NULL, 0, 0, on_call, NULL);
	if (rc == 0)
		rc = gputap_event_subscribe(on_event, NULL);
	if (rc == 0 && says("tables"))
		rc = gputap_table_subscribe(on_table, NULL);
	if (rc == 0)
		rc = gputap_context_start(context);
	if (rc)
		TELL("trouble %d\n", rc);
	return says("fail") ? -7 : rc;
}

static void finish(void *user)
{
	(void)user;
	/* a loaded runtime still works, and the tool is notified of calls to it */
	if (says("again")) {
		int (*count)(int *) =
			(int (*)(int *))(uintptr_t)dlsym(RTLD_DEFAULT, "hipGetDeviceCount");
		int n = -1, rc = count ? count(&n) : -1;

		TELL("%d devices, status %d\n", n, rc);
		gputap_context_stop(context);
		gputap_context_start(context);
	}
	TELL("finish, %d opencl, %d hip, %d hip_compiler, %s hsa, %d roctx\n",
	     atomic_load(&counts[1]), atomic_load(&counts[2]), atomic_load(&counts[3]),
	     atomic_load(&counts[4]) ? "some" : "no", atomic_load(&counts[9]));
}

static struct gputap_tool tool = {sizeof tool, GPUTAP_TOOL_ABI, 0, NAME, start, finish, NULL, 0};

static void settle(void)
{
	const char *priority = getenv("LISTENER") ? strstr(getenv("LISTENER"), NAME "=") : NULL;

	if (says("abi"))
		tool.abi = GPUTAP_TOOL_ABI + 1;
	if (priority)
		tool.priority = atoi(priority + sizeof NAME);
}

#ifdef BY_CALL
int listener_add(void)
{
	constructed = 1;
	settle();
	return gputap_tool_add(&tool);
}

int listener_remove(void)
{
	return gputap_tool_remove(&tool);
}

const struct gputap_tool *listener_tool(void)
{
	return &tool;
}
#else
const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	settle();
	TELL("describe, version %u.%u\n", version >> 16, version & 0xffff);
	if (*gputap_tool_arguments())
		TELL("arguments: %s\n", gputap_tool_arguments());
	return says("silent") ? NULL : &tool;
}

__attribute__((constructor)) static void begin(void)
{
	constructed = 1;
#ifdef ANNOUNCES
	gputap_tool_opened();
#endif
}
#endif
