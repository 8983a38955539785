/* SPDX-License-Identifier: MIT */
/* Registration of runtimes' tables: core/tap.h describes tables, core/context.h contexts.
 *
 * Each interception method fills in a struct gt_table (generated, one per instance) and registers
 * it with the runtime's real table:
 *   1. every operation's real function is remembered in its tap,
 *   2. requested operations get their tap in the table, all other entries are unchanged,
 *   3. subscribers of raw tables get the result and may put their own functions in front, in the
 *      order in which they subscribed: the last one is outermost (application -> last tool -> ...
 *      -> tap -> runtime).
 * Registration happens inside a runtime's initialisation: nothing here calls the runtime. */
#ifndef GPUTAP_CORE_TABLE_H
#define GPUTAP_CORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/tap.h"

/**
 * gt_table_register() - put taps between a runtime and its callers
 * @table:   instance to use, not registered before
 * @target:  the runtime's functions (or the next layer's)
 * @bytes:   size of @target and of @out. If it is longer than known, or shorter than in any
 *           release, the known part is used, and GT_EVENT_TABLE reports it
 * @out:     receives the taps. May be @target itself (patched in place). Unchanged entries equal
 *           @target's
 * Return: 0; -EALREADY when @table is in use; -EINVAL. @out contains @target's entries then.
 */
int gt_table_register(struct gt_table *table, const void *const *target, size_t bytes, void **out);

/**
 * gt_table_part() - register a part of a table, if a runtime returns it in parts
 * @first:   number of the part's first entry, which is @entries[0]; NULL there: not in this release
 * @count:   entries that the part can have
 * @all:     put in all taps: none can be added later, and more may be requested
 * Requested entries are taps afterwards; with @all, all are. May be repeated.
 */
void gt_table_part(struct gt_table *table, uint32_t first, uint32_t count, void **entries,
		   bool all);

/* Return true if there is an operation of that number; other entries stay unchanged. */
bool gt_table_has(const struct gt_table *table, uint32_t number);

/* Make the instance available again after the runtime of that table is gone. */
void gt_table_unregister(struct gt_table *table);

/**
 * gt_table_adopt() - register for interposition: the audit library has set the real functions, and
 * the table is the program's bindings
 * Services are set as for a registered table. May be repeated. Return: 0, -ENOSPC.
 */
int gt_table_adopt(struct gt_table *table);

/**
 * gt_table_extension() - return the tap for a function that a runtime looks up for the program
 * @tables, @count: the instances of the domain; each can have one real function of that name
 * @unknown: set when no operation has that name: write GT_EVENT_UNKNOWN_ENTRY, once
 * Return: the function for the program: a tap, or @real itself (not requested, or no instance is
 * left).
 */
void *gt_table_extension(struct gt_table *const *tables, size_t count, const char *name, void *real,
			 bool *unknown);

#endif
