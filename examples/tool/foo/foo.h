/* SPDX-License-Identifier: MIT */
/* The public functions of a small library, and its table: each function calls through one of its
 * entries. */
#ifndef FOO_H
#define FOO_H

#include <stddef.h>

int foo(int value); /* twice the value */

/* Size first, new entries at the end: a tool uses the entries that it knows and that exist. */
struct foo_table {
	size_t size;
	int (*foo)(int value);
};

#endif
