/* SPDX-License-Identifier: MIT */
/* Lets each allocation of a step fail in turn. A program that includes this file wraps calloc,
 * realloc and reallocarray (unit_wraps in meson.build). The address sanitizer finds what the step
 * does not release. */
#ifndef GPUTAP_FAILING_MEMORY_H
#define GPUTAP_FAILING_MEMORY_H

#include <errno.h>
#include <stdlib.h>

#include "analysis/base/guard_memory.h"
#include "unit.h"
#include "util/error.h"

/* Number of allocations until one fails; negative: all succeed. */
static int fail_after = -1;

static bool fails(void)
{
	return fail_after >= 0 && fail_after-- == 0;
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __real_calloc(count, bytes);
}

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __real_realloc(old, bytes);
}

void *__real_reallocarray(void *old, size_t count, size_t bytes);
void *__wrap_reallocarray(void *old, size_t count, size_t bytes);
void *__wrap_reallocarray(void *old, size_t count, size_t bytes)
{
	return fails() ? NULL : __real_reallocarray(old, count, bytes);
}

/* Run @step in a guard, with one more allocation before the one that fails each time, until it
 * succeeds. Call @release after each time. Return the number of allocations. */
static int fail_each_allocation(int (*step)(void *data), void (*release)(void *data), void *data)
{
	int n = 0, status;

	do {
		fail_after = n++;
		status = guard_memory(step, data);
		fail_after = -1;
		CHECK(!status || status == -ENOMEM);
		gt_error_clear();
		release(data);
	} while (status);
	return n - 1;
}

#endif
