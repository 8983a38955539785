/* SPDX-License-Identifier: MIT */
/* Attaches to Unified Runtime between SYCL's loader and an adapter.
 *
 *   libsycl, its loader ─► tap ─► adapter (libur_adapter_level_zero_v2.so) ─► Level Zero
 *
 * 1. SYCL maps an adapter. The audit library changes the addresses of the adapter's exports
 *    urGet..ProcAddrTable, so that the loader finds the functions below
 *    (unified_runtime_interposed.h). Each adapter is an instance with separate taps.
 * 2. The loader calls these functions, each for one table. The adapter fills the table in. Wanted
 *    entries become taps, or all entries if a tool exists.
 * 3. With one adapter the loader calls through that table. With several adapters the loader calls
 *    through the table to which a handle's first word points. The adapter itself has filled in this
 *    table. The first handle is the adapter's own, from urAdapterGet(). get_adapter() wraps this
 *    function and puts taps into the handle's table.
 *
 * Positions and arguments change without a change of the API's version (0.12 for two years). An
 * adapter counts as the described release if all its tables have as many entries as that release's
 * tables. None of the other 57 sets of tables that 0.11 and 0.12 had from June 2024 on has the same
 * numbers of entries. gputap puts no taps into the tables of other releases, and an event reports
 * this if their calls were wanted.
 *
 * When gputap attaches to a running program or the first tool comes, an adapter may already have
 * handed out its tables. The adapter then returns them again, and their copies in the loader
 * are found (runtime/table_copies.h).
 *
 * Not recorded: adapters that are linked into libsycl. In 2026.2 this is only the OpenCL adapter,
 * whose OpenCL calls are recorded. */
#include <pthread.h>
#include <stdio.h>

#include "core/context.h"
#include "core/emit.h"
#include "core/late.h"
#include "core/recording.h"
#include "core/table.h"
#include "generated/unified_runtime_taps.h"
#include "generated/unified_runtime_wraps.h" /* function types */
#include "runtime/interposition.h"
#include "runtime/mapped.h"
#include "runtime/table_copies.h"

enum {
#define UR_TABLE(function, entries) GT_UNIFIED_RUNTIME_PARTS_INDEX_##function,
#include "runtime/unified_runtime/ur_release.inc"
#undef UR_TABLE
	GT_UNIFIED_RUNTIME_PARTS_INDEX_COUNT
};

enum {
	VERSION = 12,      /* 0.12: major << 16 | minor */
	ENTRIES_MAX = 128, /* maximum number of entries in a table, with room for later releases */
	NUMBERS = 512      /* number of operations: `entries` in api/unified-runtime.api */
};

#define HIDDEN_FUNCTION __attribute__((visibility("hidden"), used))

/* Not static, because the assembler uses the address. */
extern struct gt_tap gt_unified_runtime_parts_taps[GT_INSTANCES]
						  [GT_UNIFIED_RUNTIME_PARTS_INDEX_COUNT];
HIDDEN_FUNCTION struct gt_tap gt_unified_runtime_parts_taps[GT_INSTANCES]
							   [GT_UNIFIED_RUNTIME_PARTS_INDEX_COUNT];
extern struct gt_attach_state gt_unified_runtime_parts_attach_states[GT_INSTANCES];

/* Operations in each table, in order. The combined table has the same order of tables. */
static const struct part {
	const uint16_t *operations;
	unsigned count;
} parts[] = {
#define X(operation) GT_UNIFIED_RUNTIME_INDEX_##operation,
#define UR_TABLE(function, entries) \
	{(const uint16_t[]){entries}, sizeof((const uint16_t[]){entries}) / sizeof(uint16_t)},
#include "runtime/unified_runtime/ur_release.inc"
#undef UR_TABLE
#undef X
};

/* Result of find_release() for each instance, with the address of the instance's library. */
static struct {
	pthread_mutex_t lock;
	uint64_t base[GT_INSTANCES];
	bool known[GT_INSTANCES];
	uint32_t reported[GT_INSTANCES]; /* epoch of the session that names an unknown release */
} releases = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Return the number of entries of a table that the adapter fills in. Return 0 if the adapter does
 * not have the table in this version. */
static unsigned count_entries(unsigned instance, unsigned index, uint32_t version)
{
	int (*fill)(uint32_t, void **) = gt_unified_runtime_parts_taps[instance][index].real;
	void *untouched = &releases, *entries[ENTRIES_MAX];
	unsigned count = ENTRIES_MAX;

	for (unsigned i = 0; i < ENTRIES_MAX; i++)
		entries[i] = untouched;
	if (!fill || fill(version, entries))
		return 0;
	while (count && entries[count - 1] == untouched)
		count--;
	return count;
}

static bool calls_are_wanted(void)
{
	for (unsigned i = 0; i < GT_UNIFIED_RUNTIME_INDEX_COUNT; i++)
		if (gt_contexts_ask(&gt_unified_runtime_operations[i]))
			return true;
	return false;
}

/* Return true if a tool exists. A tool may request more calls later. */
static bool has_tool(void)
{
	return atomic_load_explicit(&gt_recording.tools, memory_order_relaxed) != 0;
}

/* Return true if all entries become taps. Another session may attach later. */
static bool taps_all(void)
{
	return has_tool() || gt_is_late();
}

static void report_other_release(uint32_t version)
{
	char text[96];

	snprintf(text, sizeof text, "calls of a Unified Runtime %u.%u adapter: unknown release",
		 version >> 16, version & 0xffff);
	gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, GT_DOMAIN_UNIFIED_RUNTIME, version,
		       text);
}

/* Return true if the adapter matches the described release. */
static bool find_release(unsigned instance, uint32_t version)
{
	if (version != VERSION)
		return false;
	for (unsigned i = 0; i < GT_UNIFIED_RUNTIME_PARTS_INDEX_COUNT; i++)
		if (count_entries(instance, i, version) != parts[i].count)
			return false;
	return true;
}

static bool is_known(unsigned instance, uint32_t version)
{
	uint64_t base = gt_unified_runtime_parts_attach_states[instance].base;
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	bool known;

	pthread_mutex_lock(&releases.lock);
	if (releases.base[instance] != base) {
		releases.known[instance] = find_release(instance, version);
		releases.base[instance] = base;
		releases.reported[instance] = 0;
	}
	known = releases.known[instance];
	if (!known && releases.reported[instance] != epoch && calls_are_wanted()) {
		report_other_release(version);
		releases.reported[instance] = epoch;
	}
	pthread_mutex_unlock(&releases.lock);
	return known;
}

/* Put taps for wanted functions into the combined table, whose entries are the adapter's
 * functions. */
static void put_taps(const struct gt_table *table, void **entries)
{
	for (unsigned p = 0; p < GT_UNIFIED_RUNTIME_PARTS_INDEX_COUNT; p++)
		for (unsigned i = 0; i < parts[p].count; i++, entries++) {
			const unsigned index = parts[p].operations[i];
			const struct gt_operation *op = &table->operations[index];

			if (*entries && *entries == table->taps[index].real &&
			    (taps_all() || gt_contexts_ask(op)))
				__atomic_store_n(entries, gt_table_tap(table, index),
						 __ATOMIC_RELAXED);
		}
}

/* Replacement for an adapter's urAdapterGet(). */
static int get_adapter(unsigned instance, uint32_t count, void **adapters, uint32_t *there)
{
	const struct gt_table *table = &gt_unified_runtime_tables[instance];
	const unsigned index = GT_UNIFIED_RUNTIME_INDEX_urAdapterGet;
	gt_unified_runtime_urAdapterGet_fn *tap =
		(gt_unified_runtime_urAdapterGet_fn *)gt_table_tap(table, index);
	int status = tap(count, adapters, there);
	void **entries = status || !adapters || !count || !*adapters ? NULL : **(void ****)adapters;

	/* the table starts with this function, unless it already has taps */
	if (entries && *entries == table->taps[index].real)
		put_taps(table, entries);
	return status;
}

/* clang-format off */
#define ADAPTER_GET(n)                                                                       \
	static int get_adapter##n(uint32_t count, void **adapters, uint32_t *there)          \
	{                                                                                    \
		return get_adapter(n, count, adapters, there);                               \
	}
ADAPTER_GET(0) ADAPTER_GET(1) ADAPTER_GET(2) ADAPTER_GET(3)
ADAPTER_GET(4) ADAPTER_GET(5) ADAPTER_GET(6) ADAPTER_GET(7)
	/* clang-format on */

	static int (*const adapter_gets[GT_INSTANCES])(uint32_t, void **, uint32_t *) = {
		get_adapter0, get_adapter1, get_adapter2, get_adapter3,
		get_adapter4, get_adapter5, get_adapter6, get_adapter7,
};

static unsigned number_of(unsigned index)
{
	return gt_unified_runtime_operations[index].table_offset / sizeof(void *);
}

/* Replacement for an adapter's urGet..ProcAddrTable(). */
static int fill_part(unsigned instance, unsigned index, uint32_t version, void **out)
{
	const struct part *p = &parts[index];
	int (*real)(uint32_t, void **) = gt_unified_runtime_parts_taps[instance][index].real;
	int status = real(version, out);
	void *entries[NUMBERS] = {NULL};

	if (status || !out || !is_known(instance, version) || !(has_tool() || calls_are_wanted()))
		return status;
	for (unsigned i = 0; i < p->count; i++)
		entries[number_of(p->operations[i])] = out[i];
	gt_table_part(&gt_unified_runtime_tables[instance], 0, NUMBERS, entries, taps_all());
	for (unsigned i = 0; i < p->count; i++)
		out[i] = entries[number_of(p->operations[i])];
	if (index == GT_UNIFIED_RUNTIME_PARTS_INDEX_urGetAdapterProcAddrTable)
		*(int (**)(uint32_t, void **, uint32_t *))out = adapter_gets[instance];
	return status;
}

/* The functions that the loader calls: one function for each instance and table. */
/* clang-format off */
#define PART_TAP(n, function)                                                                \
	int gt_unified_runtime_parts_tap##n##_##function(uint32_t, void **);                 \
	HIDDEN_FUNCTION                                                                      \
	int gt_unified_runtime_parts_tap##n##_##function(uint32_t version, void **out)       \
	{                                                                                    \
		return fill_part(n, GT_UNIFIED_RUNTIME_PARTS_INDEX_##function, version, out); \
	}
#define UR_TABLE(function, entries)                                                          \
	PART_TAP(0, function) PART_TAP(1, function) PART_TAP(2, function) PART_TAP(3, function) \
	PART_TAP(4, function) PART_TAP(5, function) PART_TAP(6, function) PART_TAP(7, function)
#include "runtime/unified_runtime/ur_release.inc"
#undef UR_TABLE
/* clang-format on */
_Static_assert(GT_INSTANCES == 8, "one function above for each");

#define GT_ATTACH         unified_runtime_parts
#define GT_ATTACH_UP      UNIFIED_RUNTIME_PARTS
#define GT_ATTACH_EXPORTS "runtime/unified_runtime/ur_parts.inc"
#include "runtime/attach_object.inc"

/* Attach to newly mapped adapters. The caller may hold the dynamic linker's lock, so this function
 * must not call dlopen() or dladdr(). */
__attribute__((visibility("hidden"), used)) void gt_unified_runtime_parts_attached(void)
{
	gt_attach_adopt_all(gt_unified_runtime_parts_attach_states, gt_unified_runtime_tables,
			    GT_INSTANCES, GT_DOMAIN_UNIFIED_RUNTIME, "Unified Runtime adapter's");
}

/* Adapters mapped before gputap --------------------------------------------------------- */

/* Get the adapter's functions by requesting its tables like a loader. */
static void learn_functions(unsigned instance)
{
	void *entries[NUMBERS] = {NULL}, *filled[ENTRIES_MAX];

	for (unsigned p = 0; p < GT_UNIFIED_RUNTIME_PARTS_INDEX_COUNT; p++) {
		int (*fill)(uint32_t, void **) = gt_unified_runtime_parts_taps[instance][p].real;

		if (!fill || fill(VERSION, filled))
			continue;
		for (unsigned i = 0; i < parts[p].count; i++)
			entries[number_of(parts[p].operations[i])] = filled[i];
	}
	gt_table_part(&gt_unified_runtime_tables[instance], 0, NUMBERS, entries, taps_all());
}

/* Put taps into the copies of the adapter's tables. Return false if memory cannot be searched. */
static bool find_copies(unsigned instance)
{
	const struct gt_table *table = &gt_unified_runtime_tables[instance];
	int changed;

	gt_table_copies_begin();
	for (unsigned p = 0; p < GT_UNIFIED_RUNTIME_PARTS_INDEX_COUNT; p++) {
		const unsigned first = gt_table_copies_table(parts[p].count);

		for (unsigned i = 0; i < parts[p].count; i++) {
			const unsigned index = parts[p].operations[i];

			if (table->taps[index].real)
				gt_table_copies_entry(first + i, table->taps[index].real,
						      gt_table_tap(table, index));
		}
	}
	changed = gt_table_copies_find(gt_unified_runtime_parts_attach_states[instance].base);
	gt_table_copies_end();
	return changed >= 0;
}

/* Put taps into the table to which the adapter's handles point. */
static void find_table_of_handle(unsigned instance)
{
	const struct gt_table *table = &gt_unified_runtime_tables[instance];
	const unsigned index = GT_UNIFIED_RUNTIME_INDEX_urAdapterGet;
	gt_unified_runtime_urAdapterGet_fn *get = table->taps[index].real;
	gt_unified_runtime_urAdapterRelease_fn *release =
		table->taps[GT_UNIFIED_RUNTIME_INDEX_urAdapterRelease].real;
	void *adapter = NULL, **entries;

	if (!get || get(1, &adapter, NULL) || !adapter)
		return;
	entries = *(void ***)adapter;
	if (entries && *entries == table->taps[index].real)
		put_taps(table, entries);
	if (release)
		release(adapter);
}

/* After gputap has attached or a tool has started, find the tables that have no taps. */
static void find_tables(void)
{
	static _Atomic uint64_t found[GT_INSTANCES]; /* adapter whose tables were found */

	if (!taps_all() || !(has_tool() || calls_are_wanted()))
		return;
	for (unsigned i = 0; i < GT_INSTANCES; i++) {
		struct gt_attach_state *state = &gt_unified_runtime_parts_attach_states[i];

		if (atomic_load(&state->state) != GT_ATTACH_ARMED || !is_known(i, VERSION) ||
		    atomic_exchange(&found[i], state->base) == state->base)
			continue;
		learn_functions(i);
		find_table_of_handle(i);
		if (find_copies(i))
			continue;
		atomic_store(&found[i], 0);
		gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, GT_DOMAIN_UNIFIED_RUNTIME, 0,
			       state->path);
	}
}

__attribute__((constructor)) static void start_unified_runtime_attach(void)
{
	gt_attach_begin(gt_unified_runtime_parts_attached);
	gt_mapped_follow(find_tables);
}

GT_PROVIDE(gt_late) = {.name = "unified_runtime", .attach = find_tables};
