/* SPDX-License-Identifier: MIT */
/* Attaches ROCTx in one of two ways. ROCm's older library (roctracer's) offers no tables, so its
 * exports are interposed (runtime/audit/audit.c). Newer libraries, and gputap's, offer three small
 * tables, each starting with its size in bytes. These tables are merged into one whose positions
 * are the operation numbers. The calls that pause and resume recording are executed here (the older
 * library has neither). An instance belongs to one of the two ways. */
#include <errno.h>
#include <string.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/recording.h"
#include "core/table.h"
#include "generated/roctx_wraps.h"
#include "runtime/interposition.h"
#include "runtime/module.h"
#include "runtime/registered.h"
#include "generated/roctx_taps.h"

extern struct gt_attach_state gt_roctx_attach_states[GT_INSTANCES]
	__attribute__((visibility("hidden")));

enum { TABLES = 3, ENTRIES = 20 };

struct functions {
	uint64_t size;
	void *entries[];
};

struct canonical {
	uint64_t size;
	void *entries[ENTRIES];
};

/* Number of known functions in each table, and their first position in the merged table. */
static const struct {
	uint32_t first, count;
} parts[TABLES] = {{GT_ROCTX_roctxMarkA, 6},
		   {GT_ROCTX_roctxProfilerPause, 2},
		   {GT_ROCTX_roctxNameOsThread, 4}};

static struct {
	void *core; /* first table of the library; NULL: free entry */
	struct canonical real, taps;
} instances[GT_INSTANCES];

/* Functions that the program gets for pause and resume, even if records of them are not wanted. The
 * call that pauses is the last recorded call, and the call that resumes is the first recorded call
 * after the pause. */
typedef int control_fn(uint64_t tid);

static int pause_instance(int n, uint64_t tid)
{
	int ret = ((control_fn *)(uintptr_t)instances[n].taps.entries[GT_ROCTX_roctxProfilerPause])(
		tid);

	gt_contexts_pause(GT_PAUSE_PROGRAM, true, GT_WINDOW_PROGRAM);
	return ret;
}

static int resume_instance(int n, uint64_t tid)
{
	gt_contexts_pause(GT_PAUSE_PROGRAM, false, GT_WINDOW_PROGRAM);
	return ((control_fn *)(uintptr_t)instances[n].taps.entries[GT_ROCTX_roctxProfilerResume])(
		tid);
}

#define CONTROL(n)                              \
	static int pause_##n(uint64_t tid)      \
	{                                       \
		return pause_instance(n, tid);  \
	}                                       \
	static int resume_##n(uint64_t tid)     \
	{                                       \
		return resume_instance(n, tid); \
	}
CONTROL(0)
CONTROL(1)
CONTROL(2)
CONTROL(3)
CONTROL(4)
CONTROL(5)
CONTROL(6)
CONTROL(7)

static control_fn *const controls[GT_INSTANCES][2] = {
	{pause_0, resume_0}, {pause_1, resume_1}, {pause_2, resume_2}, {pause_3, resume_3},
	{pause_4, resume_4}, {pause_5, resume_5}, {pause_6, resume_6}, {pause_7, resume_7},
};

static void *find_front(int n, uint32_t number)
{
	if (number == GT_ROCTX_roctxProfilerPause || number == GT_ROCTX_roctxProfilerResume)
		return (void *)(uintptr_t)controls[n][number - GT_ROCTX_roctxProfilerPause];
	return instances[n].taps.entries[number];
}

static uint64_t entries(const struct functions *table)
{
	return table->size < sizeof table->size ? 0 : table->size / sizeof(void *) - 1;
}

static bool take_instance(int instance)
{
	uint32_t free = GT_ATTACH_FREE;

	return !instances[instance].core &&
	       (atomic_compare_exchange_strong(&gt_roctx_attach_states[instance].state, &free,
					       GT_ATTACH_LAYER) ||
		free == GT_ATTACH_LAYER);
}

/* Return the instance for a library's tables. *known: set to true if they have one already */
static int find_instance(void *core, bool *known)
{
	int found = -ENOSPC;

	gt_core_lock();
	for (int i = 0; i < GT_INSTANCES; i++)
		if (instances[i].core == core)
			found = i;
	*known = found >= 0;
	for (int i = 0; i < GT_INSTANCES && found == -ENOSPC; i++)
		if (take_instance(i)) {
			instances[i].core = core;
			found = i;
		}
	gt_core_unlock();
	return found;
}

static void register_tables(int n, uint64_t version, struct functions *const *from, uint64_t count)
{
	for (uint64_t t = 0; t < TABLES && t < count; t++)
		for (uint64_t i = 0; i < parts[t].count && i < entries(from[t]); i++)
			instances[n].real.entries[parts[t].first + i] = from[t]->entries[i];
	gt_roctx_tables[n].version = version;
	gt_table_register(&gt_roctx_tables[n], (const void *const *)&instances[n].real,
			  sizeof instances[n].real, (void **)&instances[n].taps);
	gt_runtime_module_of(GT_DOMAIN_ROCTX, from[0], "rocprofiler-register", version);
	for (uint64_t t = 0; t < TABLES && t < count; t++)
		if (entries(from[t]) != parts[t].count)
			gt_event_write(gt_thread_own(), GT_EVENT_TABLE, GT_DOMAIN_ROCTX,
				       entries(from[t]), gt_roctx_tables[n].name);
}

/* Write the taps into all entries that contain the library's function. */
static void write_taps(int n, struct functions *const *from, uint64_t count)
{
	for (uint64_t t = 0; t < TABLES && t < count; t++)
		for (uint64_t i = 0; i < parts[t].count && i < entries(from[t]); i++) {
			void *tap = find_front(n, parts[t].first + (uint32_t)i),
			     *real = instances[n].real.entries[parts[t].first + i];

			if (tap != real)
				__atomic_compare_exchange_n(&from[t]->entries[i], &real, tap, false,
							    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
		}
}

/* Take the library's core, control and name tables, each starting with its size in bytes. @count:
 * number of tables. Return 0, also for known tables; -EINVAL; -ENOSPC: all instances are in use,
 * which an event reports. */
static int take_tables(uint64_t version, void **tables, uint64_t count)
{
	struct functions *const *from = (struct functions *const *)tables;
	bool known;
	int n;

	if (count < 1 || !tables || !tables[0])
		return -EINVAL;
	if (!gt_recording.session)
		return 0;
	n = find_instance(tables[0], &known);
	if (n < 0) {
		gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, GT_DOMAIN_ROCTX, 0,
			       "a copy of the ROCTx library, because too many copies are loaded");
		return n;
	}
	if (known)
		gt_table_extend(&gt_roctx_tables[n], (void **)&instances[n].taps);
	else
		register_tables(n, version, from, count);
	write_taps(n, from, count);
	return 0;
}

GT_PROVIDE(gt_registered) = {.name = "roctx", .take = take_tables};
