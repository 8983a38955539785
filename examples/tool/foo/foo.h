/* SPDX-License-Identifier: MIT */
/* The public functions of a small library, and its table. Each function calls through a table
 * entry. */
#ifndef FOO_H
#define FOO_H

#include <stddef.h>

int foo(int value); /* return twice the value */

/* The table starts with its size. New entries are appended. A tool uses only entries that it knows
 * and that the table contains. */
struct foo_table {
	size_t size;
	int (*foo)(int value);
};

#endif
