/* SPDX-License-Identifier: MIT */
/* librocprofiler-sdk-attach.so.1: makes a program attachable for AMD's `rocprofv3 --attach`.
 *
 *   started with ROCP_TOOL_ATTACH=1
 *     librocprofiler-register ── dlopen(), "hsa" ──► here: a thread, and "rocattach" is registered
 *   attached
 *     rocattach ── stops the thread, calls in it ──► rocprofiler_register_attach()
 *       ──► librocprofiler-sdk.so: rocprofiler_set_api_table(), rocprofiler_attach()
 *
 * AMD's library also puts a proxy before each HSA queue from the start. gputap takes over queues
 * that exist when a tool is attached (runtime/hsa/hsa_late.c), so this library leaves HSA alone,
 * and libgputap is not mapped before. The table that is registered serves only as a mark: its
 * functions report that nothing is supported, in case that AMD's own SDK gets the table.
 *
 * gputap's own rocattach (src/rocattach) loads this library into programs that were not started so,
 * and calls it in attach_entry.c.
 *
 * The thread is named as rocattach expects, blocks all signals, and holds no lock. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "attach_listener.h"

enum { SUCCESS = 0, INVALID_ARGUMENT = 19, VERSION = 10000, FUNCTIONS = 11 };

ATTACH_EXPORT int rocprofiler_attach_set_api_table(const char *name, uint64_t version,
						   uint64_t instance, void **tables, uint64_t count,
						   attach_register_fn *add);
ATTACH_EXPORT int rocprofiler_attach_get_version(void);

static int get_minus_one(void)
{
	return -1;
}

int rocprofiler_attach_get_version(void)
{
	return VERSION;
}

/* Return false: no queue has a proxy. */
static int is_interception_active(void)
{
	return 0;
}

static struct {
	uint64_t size;
	int (*functions[FUNCTIONS])(void);
} table = {
	.size = sizeof table,
	.functions =
		{
			rocprofiler_attach_get_version, get_minus_one, /* iterate_all_queues */
			get_minus_one,                                 /* set_write_interceptor */
			get_minus_one,                         /* iterate_all_code_objects */
			get_minus_one,                         /* add_code_object_cb */
			get_minus_one,                         /* remove_code_object_cb */
			get_minus_one,                         /* add_queue_cb */
			get_minus_one,                         /* remove_queue_cb */
			get_minus_one,                         /* lookup_memory_codeobj_data */
			is_interception_active, get_minus_one, /* initialize_hsa_interception */
		},
};

static void *listen_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void start_thread(void)
{
	sigset_t all, signals;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &signals);
	if (pthread_create(&thread, NULL, listen_for_ever, NULL) == 0) {
		pthread_setname_np(thread, "rocp-bg-attach");
		pthread_detach(thread);
	}
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

int attach_mark(attach_register_fn *add)
{
	void *ours[] = {&table};
	uint64_t id = 0;

	return add("rocattach", NULL, VERSION, ours, 1, &id);
}

/* Called by librocprofiler-register when HSA registers and no tool is there. @add: registers this
 * library's table. Return: rocprofiler_status_t. */
int rocprofiler_attach_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **tables, uint64_t count, attach_register_fn *add)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)version, (void)instance, (void)tables, (void)count;
	if (!name || strcmp(name, "hsa"))
		return INVALID_ARGUMENT;
	pthread_once(&once, start_thread);
	if (add)
		attach_mark(add);
	return SUCCESS;
}
