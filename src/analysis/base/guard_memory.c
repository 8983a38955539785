/* SPDX-License-Identifier: MIT */
/* See guard_memory.h. */
#include "analysis/base/guard_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/grow.h"

static _Thread_local jmp_buf *innermost; /* NULL: no guard */

int guard_memory(int (*step)(void *data), void *data)
{
	jmp_buf *volatile outer = innermost;
	jmp_buf here;
	int status;

	if (setjmp(here)) {
		innermost = outer;
		return gt_error(-ENOMEM, "out of memory");
	}
	innermost = &here;
	status = step(data);
	innermost = outer;
	return status;
}

void memory_ran_out(void)
{
	if (!innermost)
		abort();
	longjmp(*innermost, 1);
}

void *allocate_list(size_t count, size_t bytes)
{
	void *list = calloc(count ? count : 1, bytes);

	if (!list)
		memory_ran_out();
	return list;
}

static void *zero_new(void *list, size_t old_count, size_t count, size_t bytes)
{
	if (!list)
		memory_ran_out();
	if (count > old_count)
		memset((char *)list + old_count * bytes, 0, (count - old_count) * bytes);
	return list;
}

void *resize_list(void *list, size_t old_count, size_t count, size_t bytes)
{
	return zero_new(reallocarray(list, count ? count : 1, bytes), old_count, count, bytes);
}

void *grow_list(void *list, size_t count, size_t *room, size_t bytes)
{
	const size_t old_room = *room;

	list = gt_grow_to(list, count, room, bytes);
	return zero_new(list, old_room, *room, bytes);
}
