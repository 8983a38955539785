/* SPDX-License-Identifier: MIT */
/* Puts taps into copies of a library's tables of functions, in memory unknown to gputap: where a
 * library has handed out its tables before gputap came.
 *
 *   gt_table_copies_begin()
 *   first = gt_table_copies_table(number of entries)     for each table
 *   gt_table_copies_entry(first + i, function, tap)      for each wanted entry
 *   gt_table_copies_find(), gt_table_copies_of_handle()
 *   gt_table_copies_end()
 *
 * Between begin and end a lock is held, and gt_core_lock() may be taken. Thread: any. */
#ifndef GPUTAP_RUNTIME_TABLE_COPIES_H
#define GPUTAP_RUNTIME_TABLE_COPIES_H

#include <stdbool.h>
#include <stdint.h>

enum { GT_TABLE_COPIES_ENTRIES = 2000 };

void gt_table_copies_begin(void);
void gt_table_copies_end(void);

/* Add a table of @count entries, or a function that callers hold alone (1). Return the number of
 * its first entry. */
unsigned gt_table_copies_table(unsigned count);
void gt_table_copies_entry(unsigned entry, const void *real, const void *tap);

/**
 * gt_table_copies_find() - put taps into the copies in the process's memory
 * @base: address at which the library is mapped; its own memory is left unchanged
 * Return: number of entries that have become taps, or -1 if the process's memory cannot be
 *         searched.
 */
int gt_table_copies_find(uintptr_t base);

/**
 * gt_table_copies_of_handle() - put taps into the tables that a handle leads to
 * The handle starts with pointers to tables of tables, which may belong to the library:
 *      handle -> { version, table, table, ... } -> functions
 * Return: true if calls through these tables lead to taps now, or no entry was added.
 */
bool gt_table_copies_of_handle(const void *handle);

#endif
