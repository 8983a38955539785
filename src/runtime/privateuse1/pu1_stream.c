/* SPDX-License-Identifier: MIT */
/* Implements a plug-in's own thread. All of the plug-in's functions except pushes and pops run
 * here.
 *
 *   WAITS ── gt_pu1_start() ──► STARTS ── loaded, registered, enabled ──► RECORDS
 *                                  └─ refused ──► OVER ◄── the end, last records ──┘
 *
 * Every PAUSE_NS, the thread flushes the plug-in and writes completed records. When the process
 * ends, it does so a last time, and the thread that ends the process waits for it, with a time-out
 * (pu1_attach.c). */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/emit.h"
#include "core/recording.h"
#include "generated/privateuse1_taps.h"
#include "runtime/module.h"
#include "runtime/privateuse1/pu1_parts.h"
#include "tool/tool.h"
#include "tool/tool_thread.h"

#define PAUSE_NS 100000000

enum {
	STACK_BYTES = 8 << 20, /* vendors' code runs on this stack */
	PLUGINS_MOST = 64,
};

static _Atomic uint32_t over; /* a futex */

void gt_pu1_ask_end(void)
{
	atomic_store(&over, 1);
	syscall(SYS_futex, &over, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void gt_pu1_ask_begin(void)
{
	atomic_store(&over, 0);
}

static void set_state(struct gt_pu1 *p, enum gt_pu1_state state)
{
	atomic_store(&p->state, state);
	syscall(SYS_futex, &p->state, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static void pause_thread(void)
{
	const struct timespec t = {0, PAUSE_NS};

	syscall(SYS_futex, &over, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
}

/* counts of each plug-in that former sessions have reported, by index in libgputap-plugin */
static uint64_t former_counts[PLUGINS_MOST][GPUTAP_PLUGIN_COUNT_COUNT];

/* Return libgputap-plugin's functions, or NULL if the library is not found. The library is opened
 * once. */
static const struct gt_pu1_functions *open_library(void)
{
	static struct gt_pu1_functions f;
	static _Atomic bool open;
	char path[sizeof gt_recording.session->plugins];
	void *library;
	bool all = true;

	if (atomic_load(&open))
		return &f;
	snprintf(path, sizeof path, "%s", gt_recording.session->plugins);
	path[strcspn(path, "\n")] = '\0';
	/* prefer the program's own copy of the library if it exists, because a plug-in can have
	 * only one host */
	library = dlopen("libgputap-plugin.so.0", RTLD_NOW | RTLD_NOLOAD);
	if (!library)
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return NULL;
#define X(name) all &= (*(void **)&f.name = dlsym(library, #name)) != NULL;
	GT_PU1_FUNCTIONS(X)
#undef X
	atomic_store(&open, all);
	return all ? &f : NULL;
}

/* Load and enable the plug-in. Return true if the plug-in records. */
static bool open_plugin(struct gt_pu1 *p)
{
	struct gputap_plugin about = {.size = sizeof about};
	char why[900] = "libgputap-plugin.so.0 cannot be opened", path[4096];
	int index = -ENOEXEC;

	snprintf(path, sizeof path, "%.*s", (int)strcspn(p->path, "\t\n"), p->path);
	p->f = open_library();
	p->kinds = gt_pu1_kinds();
	atomic_store(&p->in, "its registration");
	if (p->f)
		index = p->f->gputap_plugins_stream_open(path, p->kinds, why, sizeof why);
	atomic_store(&p->in, NULL);
	if (index < 0) {
		snprintf(p->name, sizeof p->name, "%s", strrchr(path, '/') + 1);
		if (index == -EALREADY || index == -EBUSY)
			snprintf(why, sizeof why, "the program loads it itself");
		gt_pu1_event(p, p->thread, 0, why);
		return false;
	}
	p->index = (uint32_t)index;
	if (index < PLUGINS_MOST)
		memcpy(p->reported, former_counts[index], sizeof p->reported);
	if (!p->f->gputap_plugins_at(p->index, &about))
		snprintf(p->name, sizeof p->name, "%s", about.name);
	gt_runtime_module_named(GT_DOMAIN_PRIVATEUSE1, path, 0, "plug-in", 0);
	return true;
}

static void flush_stream(struct gt_pu1 *p)
{
	atomic_store(&p->in, "pu1FlushAll()");
	p->f->gputap_plugins_stream_flush(p->index);
	atomic_store(&p->in, NULL);
}

/* Update the number of open plug-ins, which the collector reads when the process has ended. */
static void count_open(int change)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);

	if (r)
		atomic_fetch_add_explicit(&r->plugins_open, (uint32_t)change, memory_order_relaxed);
}

static void end_plugin(struct gt_pu1 *p)
{
	const char *error;

	atomic_store(&p->in, "pu1TracingDisable()");
	p->f->gputap_plugins_stream_close(p->index);
	flush_stream(p);
	p->f->gputap_plugins_stream_end(p->index);
	gt_pu1_write_records(p, true);
	for (uint32_t i = 0; i < p->object_rooms[GT_OBJECT_DEVICE]; i++)
		if (p->objects[GT_OBJECT_DEVICE][i].number)
			gt_pu1_read_clock(p, (int32_t)p->objects[GT_OBJECT_DEVICE][i].key, true);
	error = p->f->gputap_plugins_stream_error(p->index);
	if (error)
		gt_pu1_event(p, p->thread, 0, error);
	if (p->index < PLUGINS_MOST)
		memcpy(former_counts[p->index], p->reported, sizeof p->reported);
	count_open(-1);
}

static void *run_plugin(void *argument)
{
	struct gt_pu1 *p = argument;

	gt_tool_thread_name("gputap-plug-in");
	gt_tool_thread_count(true);
	p->thread = gt_thread_own();
	gt_internal_enter(); /* calls made by the plug-in are not the program's */
	gt_pu1_clock_begin(&p->host);
	p->begun_boot_ns = p->host.first.boot_ns;
	if (!p->thread || !open_plugin(p)) {
		set_state(p, GT_PU1_OVER);
		gt_tool_thread_count(false);
		return NULL;
	}
	gt_pu1_push_to(p->f, p->index);
	gt_pu1_hear_submissions(p);
	count_open(1);
	set_state(p, GT_PU1_RECORDS);
	while (!atomic_load(&over)) {
		pause_thread();
		if (atomic_load(&over))
			break;
		flush_stream(p);
		gt_pu1_write_records(p, false);
	}
	end_plugin(p);
	set_state(p, GT_PU1_OVER);
	gt_tool_thread_count(false);
	return NULL;
}

void gt_pu1_clear(struct gt_pu1 *p)
{
	struct gt_pu1_known *known = p->known; /* a vendor's thread may still use it */

	free(p->links.now);
	free(p->links.before);
	free(p->calls.records);
	free(p->activity.records);
	free(p->launching.list);
	free(p->copying.list);
	free(p->setting.list);
	free(p->standing);
	for (int type = 0; type < GT_OBJECT_TYPE_COUNT; type++)
		free(p->objects[type]);
	memset(p, 0, sizeof *p);
	p->known = known;
}

int gt_pu1_start(struct gt_pu1 *p)
{
	uint32_t waits = GT_PU1_WAITS;
	int rc;

	if (!atomic_compare_exchange_strong(&p->state, &waits, GT_PU1_STARTS))
		return 0;
	rc = gt_tool_thread_start(run_plugin, p, STACK_BYTES);
	if (rc)
		atomic_store(&p->state, GT_PU1_OVER);
	return rc;
}
