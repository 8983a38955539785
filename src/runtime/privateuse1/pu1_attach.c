/* SPDX-License-Identifier: MIT */
/* Selects and loads plug-ins. The session lists the plug-ins that `gputap run` has found and
 * tested. A process loads a plug-in when it has mapped a library that the plug-in needs, or the
 * plug-in itself, or torch. Until then, nothing is loaded and no vendor's code runs, so most
 * programs of a process tree (shells, compilers) never load a plug-in.
 *
 *   1. gputap's constructor runs last among the constructors of the libraries that the program is
 *      linked with, so vendors' runtimes among these libraries are already initialised. The
 *      constructor starts the plug-ins of these runtimes. main() begins once the plug-ins record or
 *      START_NS have passed.
 *   2. Every LOOK_NS, a thread looks for libraries that the program opens later. When torch's
 *      operators are about to be recorded, the program's thread also looks for such libraries, and
 *      waits as in step 1.
 *
 * In a program that gputap attaches to, the attach takes the place of the constructor, and the end
 * of the session that of the end of the process. Another session then starts the plug-ins again.
 *
 * At the end of the process, each plug-in's thread takes the last records. This happens before the
 * exit handlers of the vendors run, because these were registered earlier. The process waits at
 * most END_NS.
 *
 * Never here: a call of a plug-in's function in a thread of the program. */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/emit.h"
#include "core/external.h"
#include "core/late.h"
#include "core/recording.h"
#include "core/table.h"
#include "generated/privateuse1_taps.h"
#include "generated/privateuse1_wraps.h"
#include "runtime/privateuse1/pu1_parts.h"
#include "tool/tool.h"
#include "tool/tool_thread.h"
#include "util/clock_ns.h"

#define START_NS UINT64_C(5000000000)
#define END_NS   UINT64_C(2000000000)
#define LOOK_NS  20000000

enum { LOOKER_STACK_BYTES = 64 << 10 };

static struct gt_pu1 plugins[GT_PU1_MOST];
static uint32_t plugin_count;
/* process in which the plug-ins' threads run; a fork's child has no such threads */
static pid_t owner;

/* Real function of each tap of the table. A tap needs one, but none of these taps calls it. */
static int nothing(const char *name, uint64_t correlation, uint64_t within)
{
	(void)name, (void)correlation, (void)within;
	return 0;
}

static void register_table(void)
{
	const void *real[GT_PRIVATEUSE1_INDEX_COUNT];
	static void *taps[GT_PRIVATEUSE1_INDEX_COUNT];

	for (int i = 0; i < GT_PRIVATEUSE1_INDEX_COUNT; i++)
		real[i] = (const void *)(uintptr_t)nothing;
	gt_table_register(&gt_privateuse1_tables[0], real, sizeof real, taps);
}

/* Prepare for the next session. Return false if a plug-in has not ended the former session. */
static bool forget_session(void)
{
	for (uint32_t i = 0; i < plugin_count; i++) {
		const uint32_t state = atomic_load(&plugins[i].state);

		if (state != GT_PU1_WAITS && state != GT_PU1_OVER)
			return false;
	}
	for (uint32_t i = 0; i < plugin_count; i++)
		gt_pu1_clear(&plugins[i]);
	plugin_count = 0;
	return true;
}

/* The list --------------------------------------------------------------------------- */

static void read_list(void)
{
	const char *line = strchr(gt_recording.session->plugins, '\n');

	for (; line && line[1] && plugin_count < GT_PU1_MOST; line = strchr(line + 1, '\n'))
		plugins[plugin_count++].path = line + 1;
}

/* Return true if a path in the line ends with the file name @file. */
static bool line_names(const char *line, const char *file)
{
	size_t bytes = strlen(file);

	for (const char *word = line; *word && *word != '\n';) {
		size_t length = strcspn(word, "\t\n");
		const char *name = word;

		for (size_t i = 0; i < length; i++)
			if (word[i] == '/')
				name = word + i + 1;
		if ((size_t)(word + length - name) == bytes && !memcmp(name, file, bytes))
			return true;
		word += length + (word[length] == '\t');
	}
	return false;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *file = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	bool *found = data;

	(void)size;
	file = file ? file + 1 : info->dlpi_name;
	if (!file || !*file)
		return 0;
	for (uint32_t i = 0; i < plugin_count; i++)
		if (!strncmp(file, "libtorch_cpu.so", 15) || line_names(plugins[i].path, file))
			found[i] = true;
	return 0;
}

/* Start the plug-ins whose libraries this process has. Return the number of plug-ins still
 * waiting. */
static uint32_t start_plugins_needed(void)
{
	bool found[GT_PU1_MOST] = {false};
	uint32_t left = 0;

	dl_iterate_phdr(look_at_object, found);
	for (uint32_t i = 0; i < plugin_count; i++) {
		if (atomic_load(&plugins[i].state) != GT_PU1_WAITS)
			continue;
		if (found[i])
			gt_pu1_start(&plugins[i]);
		else
			left++;
	}
	return left;
}

/* Wait until the plug-in's state is at least @state. Return false on time-out. */
static bool wait_for(struct gt_pu1 *p, uint32_t state, uint64_t deadline)
{
	uint32_t now;

	while ((now = atomic_load(&p->state)) < state) {
		uint64_t ns = gt_clock_ns(CLOCK_MONOTONIC);
		struct timespec t;

		if (ns >= deadline)
			return false;
		t = (struct timespec){(time_t)((deadline - ns) / 1000000000),
				      (long)((deadline - ns) % 1000000000)};
		syscall(SYS_futex, &p->state, FUTEX_WAIT_PRIVATE, now, &t, NULL, 0);
	}
	return true;
}

static void wait_for_starts(void)
{
	uint64_t deadline = gt_clock_ns(CLOCK_MONOTONIC) + START_NS;

	for (uint32_t i = 0; i < plugin_count; i++)
		if (atomic_load(&plugins[i].state) == GT_PU1_STARTS &&
		    !wait_for(&plugins[i], GT_PU1_RECORDS, deadline))
			gt_pu1_event(&plugins[i], gt_thread_own(), 0,
				     "not ready after 5 s; the program continues without it");
}

/* true until the plug-ins are started, and once they have been asked to end */
static _Atomic bool has_ended = true;

/* End of the process ----------------------------------------------------------------- */

static void end_plugins(void)
{
	uint64_t deadline = gt_clock_ns(CLOCK_MONOTONIC) + END_NS;

	if (getpid() != owner || atomic_exchange(&has_ended, true))
		return;
	gt_pu1_ask_end();
	for (uint32_t i = 0; i < plugin_count; i++) {
		struct gt_pu1 *p = &plugins[i];
		const char *in;
		char text[200];

		if (atomic_load(&p->state) == GT_PU1_WAITS || wait_for(p, GT_PU1_OVER, deadline))
			continue;
		in = atomic_load(&p->in);
		snprintf(text, sizeof text, "%s does not return: its last records are lost",
			 in ? in : "its thread");
		gt_pu1_event(p, gt_thread_own(), 0, text);
	}
}

/* number of plug-ins that waited for a library at the last look */
static _Atomic uint32_t waiting;

/* Start the plug-ins needed now, and wait. Return the number of plug-ins still waiting for a
 * library. */
static uint32_t look_now(void)
{
	uint32_t left = start_plugins_needed();

	if (left == atomic_exchange(&waiting, left))
		return left;
	wait_for_starts();
	/* registered again, so that it runs before the handlers of the new libraries */
	atexit(end_plugins);
	return left;
}

static void prepare_for_pushes(void)
{
	look_now();
	wait_for_starts(); /* includes plug-ins that the looking thread has just started */
}

static _Atomic bool is_looking;

static void *look_for_libraries(void *nobody)
{
	const struct timespec pause = {0, LOOK_NS};

	(void)nobody;
	gt_tool_thread_name("gputap-look");
	gt_tool_thread_count(true);
	do
		syscall(SYS_nanosleep, &pause, NULL);
	while (!atomic_load(&has_ended) && look_now());
	atomic_store(&is_looking, false);
	gt_tool_thread_count(false);
	return NULL;
}

/* Forget the plug-ins in a fork's child, because their threads belong to the parent. */
static void forget_plugins(void)
{
	gt_pu1_push_to_none();
}

/* Start the session's plug-ins. */
static void start_session(void)
{
	static bool is_registered;

	if (!gt_recording.session->plugins[0] ||
	    atomic_load_explicit(&gt_recording.off, memory_order_relaxed))
		return;
	owner = getpid();
	read_list();
	register_table();
	if (!gt_pu1_kinds())
		return;
	gt_pu1_ask_begin();
	atomic_store(&waiting, UINT32_MAX);
	atomic_store(&has_ended, false);
	if (!is_registered) {
		pthread_atfork(NULL, NULL, forget_plugins);
		at_quick_exit(end_plugins);
	}
	is_registered = true;
	if (!look_now())
		return;
	atomic_store(&gt_push_hooks.prepare, prepare_for_pushes);
	if (!atomic_exchange(&is_looking, true) &&
	    gt_tool_thread_start(look_for_libraries, NULL, LOOKER_STACK_BYTES))
		atomic_store(&is_looking, false);
}

__attribute__((constructor)) static void start_plugins(void)
{
	gt_recording_init();
	if (gt_recording_is_run())
		start_session();
}

/* Called in gputap's thread, so plug-ins start and end as they do in a program's thread. */
static void attach_plugins(void)
{
	if (forget_session())
		start_session();
	else
		gt_late_missing(GT_DOMAIN_PRIVATEUSE1,
				"records of plug-ins: a plug-in has not ended the former session");
}

static void finish_plugins(void)
{
	gt_pu1_push_to_none();
	end_plugins();
}

GT_PROVIDE(gt_late) = {.name = "privateuse1", .attach = attach_plugins, .finish = finish_plugins};
