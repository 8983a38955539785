/* SPDX-License-Identifier: MIT */
/* The tables that a driver hands out: which there are, and those that were handed out before
 * anybody could put taps into them. */
#ifndef GPUTAP_RUNTIME_LEVEL_ZERO_TABLES_H
#define GPUTAP_RUNTIME_LEVEL_ZERO_TABLES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/recording.h"
#include "core/tap.h"

enum { GT_LZ_TABLE_MAX = 256 }; /* entries of one table, also of releases to come */

/* zeGet..ProcAddrTable() */
struct gt_lz_part {
	const char *name;
	enum gt_domain domain;
	uint16_t first, end; /* numbers of its entries */
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

/* Is there a tool, or one that is started by the first call? In a running program there is no such
 * call before the tables that the loader has lead to taps. */
static inline bool gt_lz_has_tool(void)
{
	return atomic_load_explicit(&gt_recording.tools, memory_order_relaxed) ||
	       atomic_load_explicit(&gt_recording.pending, memory_order_relaxed);
}

struct gt_table *gt_lz_table(enum gt_domain domain, unsigned instance);

/**
 * gt_lz_tables_find() - put taps into the copies of a driver's tables that others have
 * @instance: the driver's; its functions are registered
 * @base:     where the driver is mapped
 * Return: entries that have become taps; -1: the process's memory cannot be searched.
 * Thread: any; not with gt_core_lock() held.
 */
int gt_lz_tables_find(unsigned instance, uintptr_t base);

/**
 * gt_lz_tables_of_handle() - the same for the tables that a driver's handle leads to (DDI handles)
 * Return: true if calls through them are seen now, or nobody asks for any.
 */
bool gt_lz_tables_of_handle(unsigned instance, const void *handle);

#endif
