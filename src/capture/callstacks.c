/* SPDX-License-Identifier: MIT */
/* See callstacks.h. Opening a capture reads frames and code (read_records.c). The stacks of calls
 * are read on request. */
#include "capture/callstacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/cursor.h"
#include "capture/reader.h"
#include "util/error.h"

/* Orders ------------------------------------------------------------------------------------ */

static int compare_stacks(const void *a, const void *b)
{
	const struct gt_stack_info *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Compare modules by generation, newest last. */
static int compare_code(const void *a, const void *b)
{
	const struct gt_code_info *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->generation > y->generation) - (x->generation < y->generation);
}

int gt_stacks_finish(struct gt_capture *c)
{
	int status = gt_sort_stable(c->stacks, c->stack_count, sizeof *c->stacks, compare_stacks);

	return status ? status
		      : gt_sort_stable(c->code, c->code_count, sizeof *c->code, compare_code);
}

void gt_stacks_close(struct gt_capture *c)
{
	for (size_t i = 0; i < c->stack_count; i++)
		free((void *)(uintptr_t)c->stacks[i].frames);
	free(c->stacks);
	free(c->code);
}

/* Lookup ------------------------------------------------------------------------------------ */

size_t gt_capture_stack_count(const struct gt_capture *c)
{
	return c->stack_count;
}

const struct gt_stack_info *gt_capture_stack_at(const struct gt_capture *c, size_t index)
{
	return index < c->stack_count ? &c->stacks[index] : NULL;
}

const struct gt_stack_info *gt_capture_stack_find(const struct gt_capture *c, uint32_t process,
						  uint32_t number)
{
	const struct gt_stack_info wanted = {.process = process, .number = number};

	if (!c->stack_count)
		return NULL;
	return bsearch(&wanted, c->stacks, c->stack_count, sizeof wanted, compare_stacks);
}

size_t gt_capture_code_count(const struct gt_capture *c)
{
	return c->code_count;
}

const struct gt_code_info *gt_capture_code_at(const struct gt_capture *c, size_t index)
{
	return index < c->code_count ? &c->code[index] : NULL;
}

const struct gt_code_info *gt_capture_module_find(const struct gt_capture *c, uint32_t process,
						  uint32_t generation, uint64_t address)
{
	const struct gt_code_info *found = NULL;
	size_t low = 0, high = c->code_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c->code[middle].process < process)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->code_count && c->code[low].process == process &&
	       c->code[low].type == GT_CODE_MODULE;
	     low++)
		if (c->code[low].generation <= generation && address >= c->code[low].start &&
		    address < c->code[low].end)
			found = &c->code[low];
	return found;
}

const struct gt_code_info *gt_capture_python_find(const struct gt_capture *c, uint32_t process,
						  uint32_t number)
{
	const struct gt_code_info wanted = {.process = process,
					    .type = GT_CODE_PYTHON,
					    .number = number};

	if (!c->code_count)
		return NULL;
	return bsearch(&wanted, c->code, c->code_count, sizeof wanted, compare_code);
}

/* Calls ------------------------------------------------------------------------------------- */

struct call_stack {
	uint64_t id;
	uint32_t process, number;
};

struct gt_call_stacks {
	struct call_stack *calls; /* sorted by process, id */
	size_t count, room;
};

static int compare_calls(const void *a, const void *b)
{
	const struct call_stack *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int add_call(struct gt_call_stacks *s, const struct gt_item *item)
{
	int status = gt_list_grow((void **)&s->calls, &s->room, s->count, sizeof *s->calls);

	if (!status)
		s->calls[s->count++] =
			(struct call_stack){item->id, item->process, (uint32_t)item->ret};
	return status;
}

static int read_calls(struct gt_call_stacks *s, const struct gt_capture *c)
{
	const struct gt_item *item;
	struct gt_cursor *cursor;
	int status = gt_cursor_create(c, &cursor);

	if (status)
		return status;
	gt_cursor_take_all(cursor);
	cursor->only_stacks = true;
	while (status >= 0 && (status = gt_cursor_next(cursor, &item)) > 0)
		if (item->kind == GT_RECORD_STACK)
			status = add_call(s, item) ? -ENOMEM : 1;
	gt_cursor_destroy(cursor);
	return status;
}

int gt_call_stacks_create(const struct gt_capture *c, struct gt_call_stacks **out)
{
	struct gt_call_stacks *s;
	bool is_sorted = true;
	int status;

	*out = NULL;
	if (!c->stack_count)
		return 0;
	s = calloc(1, sizeof *s);
	status = s ? read_calls(s, c)
		   : gt_error(-ENOMEM, "cannot store the stacks of capture %s", c->files[0].path);
	for (size_t i = 1; !status && is_sorted && i < s->count; i++)
		is_sorted = compare_calls(&s->calls[i - 1], &s->calls[i]) <= 0;
	if (!status && !is_sorted)
		status = gt_sort_stable(s->calls, s->count, sizeof *s->calls, compare_calls);
	if (status) {
		gt_call_stacks_destroy(s);
		return status;
	}
	*out = s;
	return 0;
}

void gt_call_stacks_destroy(struct gt_call_stacks *s)
{
	if (s)
		free(s->calls);
	free(s);
}

uint32_t gt_call_stacks_find(const struct gt_call_stacks *s, uint32_t process, uint64_t id)
{
	const struct call_stack wanted = {.id = id, .process = process}, *found;

	if (!s || !s->count || !id)
		return 0;
	found = bsearch(&wanted, s->calls, s->count, sizeof wanted, compare_calls);
	return found ? found->number : 0;
}
