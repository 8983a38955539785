/* SPDX-License-Identifier: MIT */
/* See guard_memory.h. */
#include "analysis/base/guard_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/error.h"
#include "util/grow.h"

struct guard {
	jmp_buf here;
	struct guard *outer;
	struct cleanup *older; /* cleanups that are not this guard's */
};

/* A list with its cleanup in front of it. */
struct scratch {
	struct cleanup cleanup;
	alignas(max_align_t) char list[];
};

static _Thread_local struct guard *innermost; /* NULL: no guard */
static _Thread_local struct cleanup *newest;

int guard_memory(int (*step)(void *data), void *data)
{
	struct guard guard = {.outer = innermost, .older = newest};
	int status;

	if (setjmp(guard.here)) {
		innermost = guard.outer;
		return gt_error(-ENOMEM, "out of memory");
	}
	innermost = &guard;
	status = step(data);
	innermost = guard.outer;
	return status;
}

void memory_ran_out(void)
{
	if (!innermost)
		abort();
	/* before longjmp(), while the stack frames that the cleanups refer to exist */
	while (newest != innermost->older)
		cleanup_pop(newest);
	longjmp(innermost->here, 1);
}

void cleanup_push(struct cleanup *c, void (*run)(void *data), void *data)
{
	*c = (struct cleanup){run, data, newest};
	newest = c;
}

void cleanup_cancel(struct cleanup *c)
{
	struct cleanup **link = &newest;

	while (*link != c)
		link = &(*link)->older;
	*link = c->older;
}

void cleanup_pop(struct cleanup *c)
{
	cleanup_cancel(c);
	c->run(c->data);
}

void *allocate_scratch(size_t count, size_t bytes)
{
	struct scratch *s = NULL;

	if (count <= (SIZE_MAX - sizeof *s) / bytes)
		s = calloc(1, sizeof *s + count * bytes);
	if (!s)
		memory_ran_out();
	cleanup_push(&s->cleanup, free, s);
	return s->list;
}

void free_scratch(void *list)
{
	struct scratch *s;

	if (!list)
		return;
	s = (struct scratch *)((char *)list - offsetof(struct scratch, list));
	cleanup_pop(&s->cleanup);
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
