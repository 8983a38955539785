/* SPDX-License-Identifier: MIT */
/* See level_zero_tables.h. Two kinds of tables do not pass through level_zero_attach.c:
 *
 *   copies      when gputap attaches to a running program, or a tool enters one, loaders (even a
 *               loader linked into the program), their layers and other callers have the driver's
 *               functions in private tables, in memory unknown to gputap
 *   in handles  since 2025 a driver's handles may start with pointers to tables (DDI handles); with
 *               several drivers a loader calls through these tables
 *
 *      handle ─► { core, tools, sysman, runtime } ─► { version, table, table, .. } ─► functions
 *
 * Both kinds are found by contents (runtime/table_copies.h). Functions that a driver returns
 * for a name are in no table; callers hold each of them alone. */
#include "runtime/level_zero/level_zero_tables.h"

#include "core/context.h"
#include "generated/level_zero_runtime_taps.h"
#include "generated/level_zero_sysman_taps.h"
#include "generated/level_zero_taps.h"
#include "generated/level_zero_tools_taps.h"
#include "runtime/level_zero/level_zero_objects.h"
#include "runtime/table_copies.h"

enum {
#define GT_PART(function, domain, first, end) +(end) - (first)
	PLACES = 0
#include "generated/level_zero_parts.inc"
#include "generated/level_zero_tools_parts.inc"
#include "generated/level_zero_sysman_parts.inc"
#include "generated/level_zero_runtime_parts.inc"
#undef GT_PART
	,
	NAMED_MOST = 64, /* functions that drivers return for a name */
};
_Static_assert((int)PLACES + NAMED_MOST <= (int)GT_TABLE_COPIES_ENTRIES, "the tables fit");

struct gt_table *gt_lz_table(enum gt_domain domain, unsigned instance)
{
	switch (domain) {
	case GT_DOMAIN_LEVEL_ZERO_TOOLS: return &gt_level_zero_tools_tables[instance];
	case GT_DOMAIN_LEVEL_ZERO_SYSMAN: return &gt_level_zero_sysman_tables[instance];
	case GT_DOMAIN_LEVEL_ZERO_RUNTIME: return &gt_level_zero_runtime_tables[instance];
	default: return &gt_level_zero_tables[instance];
	}
}

const struct gt_lz_part gt_lz_parts[GT_LZ_PARTS] = {
#define GT_PART(function, domain, first, end) {#function, GT_DOMAIN_##domain, first, end},
#include "generated/level_zero_parts.inc"
#include "generated/level_zero_tools_parts.inc"
#include "generated/level_zero_sysman_parts.inc"
#include "generated/level_zero_runtime_parts.inc"
#undef GT_PART
};

/* Add the wanted functions of a table, or all functions (gt_lz_taps_all()). */
static void add_part(const struct gt_lz_part *p, unsigned instance)
{
	const struct gt_table *table = gt_lz_table(p->domain, instance);
	const unsigned place = gt_table_copies_table((unsigned)(p->end - p->first));

	for (uint32_t i = 0; i < table->operation_count; i++) {
		const struct gt_operation *op = &table->operations[i];
		uint32_t number = op->table_offset / sizeof(void *);

		if (op->table_offset != UINT32_MAX && number >= p->first && number < p->end &&
		    table->taps[i].real && (gt_lz_taps_all() || gt_contexts_ask(op)))
			gt_table_copies_entry(place + number - p->first, table->taps[i].real,
					      gt_table_tap(table, i));
	}
}

static void add_named(unsigned instance)
{
	const struct gt_table *table = &gt_level_zero_tables[instance];

	for (uint32_t i = 0; i < table->operation_count; i++)
		if (table->operations[i].table_offset == UINT32_MAX && table->taps[i].real &&
		    (gt_lz_taps_all() || gt_contexts_ask(&table->operations[i])))
			gt_table_copies_entry(gt_table_copies_table(1), table->taps[i].real,
					      gt_table_tap(table, i));
}

static void begin_search(unsigned instance)
{
	gt_table_copies_begin();
	gt_core_lock();
	for (int part = 0; part < GT_LZ_PARTS; part++)
		add_part(&gt_lz_parts[part], instance);
	add_named(instance);
	gt_core_unlock();
}

int gt_lz_tables_find(unsigned instance, uintptr_t base)
{
	int changed;

	begin_search(instance);
	changed = gt_table_copies_find(base);
	gt_table_copies_end();
	return changed;
}

bool gt_lz_tables_of_handle(unsigned instance, const void *handle)
{
	bool any;

	begin_search(instance);
	any = gt_table_copies_of_handle(handle);
	gt_table_copies_end();
	return any;
}
