/* SPDX-License-Identifier: MIT */
/* Attaching to Level Zero between the loader and a driver.
 *
 *   program ─► loader, its layers ─► tap ─► driver
 *
 * 1. The loader maps a driver. The audit library changes the addresses of the driver's exports
 *    zeGet..ProcAddrTable, so that the loader finds the functions below
 *    (level_zero_interposed.h). Each driver is an instance with taps of its own.
 * 2. The loader calls these functions, each for one table. Ours let the driver fill in a table of
 *    ours, which is empty and longer than any: only as many entries as the loader's release knows
 *    are written by the driver, and only these are copied into the loader's table.
 * 3. Entries that somebody asked for are taps there.
 *
 * So it holds for every release of the loader, for programs with a loader linked into them, beside
 * the loader's own layers, and for several drivers. Handles are the driver's own. What is not seen:
 * calls that the loader answers itself, because it found no driver.
 * NEEDSWORK: a driver that hands out handles with tables of their own (DDI handles, 2025) is asked
 * not to (level_zero_driver.c). */
#include <string.h>

#include "core/emit.h"
#include "core/recording.h"
#include "core/table.h"
#include "generated/level_zero_runtime_taps.h"
#include "generated/level_zero_sysman_taps.h"
#include "generated/level_zero_taps.h"
#include "generated/level_zero_tools_taps.h"
#include "runtime/interposition.h"

enum {
#define X(function, exported) GT_LEVEL_ZERO_PARTS_INDEX_##function,
#include "runtime/level_zero/level_zero_parts.inc"
#undef X
	GT_LEVEL_ZERO_PARTS_INDEX_COUNT
};

enum { ENTRIES_MAX = 256 }; /* of one table, also of releases to come */

#define HIDDEN_FUNCTION __attribute__((visibility("hidden"), used))

/* By name: the assembler has their addresses. */
extern struct gt_tap gt_level_zero_parts_taps[GT_INSTANCES][GT_LEVEL_ZERO_PARTS_INDEX_COUNT];
HIDDEN_FUNCTION struct gt_tap gt_level_zero_parts_taps[GT_INSTANCES]
						      [GT_LEVEL_ZERO_PARTS_INDEX_COUNT];

static struct gt_table *table_of(enum gt_domain domain, unsigned instance)
{
	switch (domain) {
	case GT_DOMAIN_LEVEL_ZERO_TOOLS: return &gt_level_zero_tools_tables[instance];
	case GT_DOMAIN_LEVEL_ZERO_SYSMAN: return &gt_level_zero_sysman_tables[instance];
	case GT_DOMAIN_LEVEL_ZERO_RUNTIME: return &gt_level_zero_runtime_tables[instance];
	default: return &gt_level_zero_tables[instance];
	}
}

static const struct part {
	const char *name;
	enum gt_domain domain;
	uint16_t first, end; /* numbers of its entries */
} parts[] = {
#define GT_PART(function, domain, first, end) {#function, GT_DOMAIN_##domain, first, end},
#include "generated/level_zero_parts.inc"
#include "generated/level_zero_tools_parts.inc"
#include "generated/level_zero_sysman_parts.inc"
#include "generated/level_zero_runtime_parts.inc"
#undef GT_PART
};

/* In the place of a driver's zeGet..ProcAddrTable(). */
static int fill_part(unsigned instance, unsigned index, uint32_t version, void **out)
{
	const struct part *p = &parts[index];
	int (*real)(uint32_t, void **) = gt_level_zero_parts_taps[instance][index].real;
	void *filled[ENTRIES_MAX] = {NULL};
	uint32_t unknown;
	int status;

	if (!out)
		return real(version, out);
	status = real(version, filled);
	unknown = gt_table_part(table_of(p->domain, instance), p->first,
				(uint32_t)(p->end - p->first), filled);
	if (unknown)
		gt_event_write(gt_thread_own(), GT_EVENT_UNKNOWN_ENTRY, p->domain, unknown,
			       p->name);
	for (unsigned i = 0; i < ENTRIES_MAX; i++)
		if (filled[i])
			out[i] = filled[i];
	return status;
}

/* What the loader calls: one function for each instance and table. */
/* clang-format off */
#define PART_TAP(n, function)                                                                \
	int gt_level_zero_parts_tap##n##_##function(uint32_t, void **);                      \
	HIDDEN_FUNCTION                                                                      \
	int gt_level_zero_parts_tap##n##_##function(uint32_t version, void **out)            \
	{                                                                                    \
		return fill_part(n, GT_LEVEL_ZERO_PARTS_INDEX_##function, version, out);     \
	}
#define X(function, exported)                                                                \
	PART_TAP(0, function) PART_TAP(1, function) PART_TAP(2, function) PART_TAP(3, function) \
	PART_TAP(4, function) PART_TAP(5, function) PART_TAP(6, function) PART_TAP(7, function)
#include "runtime/level_zero/level_zero_parts.inc"
#undef X
/* clang-format on */
_Static_assert(GT_INSTANCES == 8, "one function above for each");

#define GT_ATTACH         level_zero_parts
#define GT_ATTACH_UP      LEVEL_ZERO_PARTS
#define GT_ATTACH_EXPORTS "runtime/level_zero/level_zero_parts.inc"
#include "runtime/attach_object.inc"

/* Maybe with the dynamic linker's lock held: no dlopen(), no dladdr() here. */
__attribute__((visibility("hidden"), used)) void gt_level_zero_parts_attached(void)
{
	gt_attach_adopt_all(gt_level_zero_parts_attach_states, gt_level_zero_tables,
			    GT_DOMAIN_LEVEL_ZERO, "Level Zero driver's");
}

__attribute__((constructor)) static void start_level_zero_attach(void)
{
	gt_recording_init();
	atomic_store_explicit(&gt_level_zero_parts_attach_states[0].ready, 1, memory_order_relaxed);
	gt_level_zero_parts_attached();
}
