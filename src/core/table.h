/* SPDX-License-Identifier: MIT */
/* Registration of runtimes' tables. core/tap.h describes tables; core/context.h describes contexts.
 *
 * Each interception method fills in a struct gt_table (generated, one per instance) and registers
 * it with the runtime's real table:
 *   1. every operation's real function is stored in its tap,
 *   2. the tap of each requested operation is put into the table, and all other entries are
 *      unchanged,
 *   3. subscribers to raw tables get the result and may put their own functions in front, in the
 *      order in which they subscribed, so that the last subscriber is outermost (application ->
 *      last tool -> ... -> tap -> runtime).
 * Registration happens inside a runtime's initialisation, so no code here calls the runtime. */
#ifndef GPUTAP_CORE_TABLE_H
#define GPUTAP_CORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/tap.h"

/**
 * gt_table_register() - put taps between a runtime and its callers
 * @table:   instance to use, not registered before
 * @target:  the functions of the runtime, or of the next layer
 * @bytes:   size of @target and of @out. If the size is larger than known, or smaller than in any
 *           release, the known part is used, and GT_EVENT_TABLE reports the size
 * @out:     receives the taps. May be @target itself (patched in place). Unchanged entries equal
 *           @target's
 * Return: 0; -EALREADY if @table is in use; -EINVAL. On failure, @out contains @target's entries.
 */
int gt_table_register(struct gt_table *table, const void *const *target, size_t bytes, void **out);

/* Put the taps of operations that are requested now, but were not at the registration, into @out,
 * which gt_table_register() has filled in. For a process that another session attaches to. */
void gt_table_extend(struct gt_table *table, void **out);

/**
 * gt_table_part() - register a part of a table, if a runtime returns the table in parts
 * @first:   number of the part's first entry, which is @entries[0]; a NULL entry is missing in this
 *           release
 * @count:   number of entries that the part can have
 * @all:     install all taps, because no tap can be added later, and more calls may be requested
 * Afterwards the requested entries, or with @all all entries, are taps. May be repeated.
 */
void gt_table_part(struct gt_table *table, uint32_t first, uint32_t count, void **entries,
		   bool all);

/* Set the real function of an operation that is not in the runtime's table. @index: index of the
 * operation in @table, which is registered */
void gt_table_set(struct gt_table *table, uint32_t index, void *real);

/* Return true if the table has an operation of that number. Entries without an operation stay
 * unchanged. */
bool gt_table_has(const struct gt_table *table, uint32_t number);

/* Make the instance available again after the runtime that owned the table was unloaded. */
void gt_table_unregister(struct gt_table *table);

/**
 * gt_table_adopt() - register a table for interposition, in which the audit library has set the
 * real functions, and the program's bindings serve as the table Sets services as for a registered
 * table. May be repeated. Return: 0, -ENOSPC.
 */
int gt_table_adopt(struct gt_table *table);

/**
 * gt_table_extension() - return the tap for a function that a runtime looks up for the program
 * @tables, @count: the instances of the domain; each can store one real function of that name
 * @unknown: set if no operation has that name; the caller writes GT_EVENT_UNKNOWN_ENTRY, once
 * Return: the function for the program: a tap, or @real itself (not requested, or no instance is
 *         left).
 */
void *gt_table_extension(struct gt_table *const *tables, size_t count, const char *name, void *real,
			 bool *unknown);

#endif
