/* SPDX-License-Identifier: MIT */
/* Lists the tables that a driver hands out, and searches for tables that were handed out before
 * gputap could insert taps. */
#ifndef GPUTAP_RUNTIME_LEVEL_ZERO_TABLES_H
#define GPUTAP_RUNTIME_LEVEL_ZERO_TABLES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/late.h"
#include "core/recording.h"
#include "core/tap.h"

/* maximum number of entries in a table, with room for later releases */
enum { GT_LZ_TABLE_MAX = 256 };

/* A table, which one zeGet..ProcAddrTable() function fills in. */
struct gt_lz_part {
	const char *name;
	enum gt_domain domain;
	uint16_t first, end; /* operation numbers of the table's entries */
};

enum {
#define GT_PART(function, domain, first, end) GT_LZ_PART_##function,
#include "generated/level_zero_parts.inc"
#include "generated/level_zero_tools_parts.inc"
#include "generated/level_zero_sysman_parts.inc"
#include "generated/level_zero_runtime_parts.inc"
#undef GT_PART
	GT_LZ_PARTS
};
extern const struct gt_lz_part gt_lz_parts[GT_LZ_PARTS];

/* Return true if a tool exists, or if the first call will start a tool. In a running program that
 * call cannot come before the loader's tables lead to taps. */
static inline bool gt_lz_has_tool(void)
{
	return atomic_load_explicit(&gt_recording.tools, memory_order_relaxed) ||
	       atomic_load_explicit(&gt_recording.pending, memory_order_relaxed);
}

/* Return true if all entries of tables become taps, because more calls may be requested later: by a
 * tool, or by the next session that attaches. */
static inline bool gt_lz_taps_all(void)
{
	return gt_lz_has_tool() || gt_is_late();
}

struct gt_table *gt_lz_table(enum gt_domain domain, unsigned instance);

/**
 * gt_lz_tables_find() - put taps into other modules' copies of a driver's tables
 * @instance: instance of the driver, with its functions registered
 * @base:     address at which the driver is mapped
 * Return: number of entries that have become taps, or -1 if the process's memory cannot be
 *         searched.
 * Thread: any; not with gt_core_lock() held.
 */
int gt_lz_tables_find(unsigned instance, uintptr_t base);

/**
 * gt_lz_tables_of_handle() - put taps into the tables that a driver's (DDI) handle leads to
 * Return: true if calls through these tables are recorded now, or are not wanted.
 */
bool gt_lz_tables_of_handle(unsigned instance, const void *handle);

#endif
