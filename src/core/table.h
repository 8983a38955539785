/* SPDX-License-Identifier: MIT */
/* Registration of runtimes' tables: see core/tap.h for what a table is, core/context.h for who
 * asks.
 *
 * Each way to attach fills in a struct gt_table (generated, one per instance) and registers it
 * with the runtime's real table:
 *   1. every operation's real function is remembered in its tap,
 *   2. operations that somebody asked for get their tap in the table, all others keep what was
 *     there,
 *   3. subscribers of raw tables get the result and may put their own functions in front, in the
 *      order in which they subscribed: the last one is outermost (application -> last tool -> ..
 *      -> tap -> runtime).
 * Registration happens inside a runtime's initialisation: nothing here calls the runtime. */
#ifndef GPUTAP_CORE_TABLE_H
#define GPUTAP_CORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/tap.h"

/**
 * gt_table_register() - put taps between a runtime and whoever calls it
 * @table:   instance to use, not registered before
 * @target:  the runtime's functions (or the next layer's)
 * @bytes:   of @target and of @out. Longer than known, or shorter than any release: used as far as
 *           known, and GT_EVENT_TABLE says so
 * @out:     where the taps go. May be @target itself (patched in place). Entries that stay as they
 *           are equal @target's
 * Return: 0; -EALREADY when @table is in use; -EINVAL. @out holds @target's entries then.
 */
int gt_table_register(struct gt_table *table, const void *const *target, size_t bytes, void **out);

/**
 * gt_table_part() - the same for a part of a table, where a runtime hands it out in parts
 * @first:   number of the part's first entry, which @entries are; NULL there: not in this release
 * @count:   entries that the part can have
 * @all:     nobody can put in a tap later, and somebody may ask for more
 * Entries that somebody asked for are taps afterwards; with @all, all are. May be repeated.
 */
void gt_table_part(struct gt_table *table, uint32_t first, uint32_t count, void **entries,
		   bool all);

/* Is there an operation of that number? Else its entry stays what it is. */
bool gt_table_has(const struct gt_table *table, uint32_t number);

/* The runtime of that table is gone: the instance can be registered again. */
void gt_table_unregister(struct gt_table *table);

/**
 * gt_table_adopt() - for interposition: the audit library has set the real functions, the table is
 * the program's bindings
 * Services are set as for a registered table. May be repeated. Return: 0, -ENOSPC.
 */
int gt_table_adopt(struct gt_table *table);

/**
 * gt_table_extension() - the tap for a function that a runtime hands out by name
 * @tables, @count: the instances of the domain; each can stand for one real function of that name
 * @unknown: set when no operation has that name: write GT_EVENT_UNKNOWN_ENTRY, once
 * Return: what the program is to get: a tap, or @real itself (nobody asked, or no instance is
 * left).
 */
void *gt_table_extension(struct gt_table *const *tables, size_t count, const char *name, void *real,
			 bool *unknown);

#endif
