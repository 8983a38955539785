/* SPDX-License-Identifier: MIT */
/* The public functions of a small library, and its table: each function leads through an entry
 * of it. */
#ifndef FOO_H
#define FOO_H

#include <stddef.h>

int foo(int value); /* twice the value */

/* Size first, new entries behind the last: a tool uses what it knows and what is there. */
struct foo_table {
	size_t size;
	int (*foo)(int value);
};

#endif
