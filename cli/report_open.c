/* SPDX-License-Identifier: MIT */
/* See report_open.h. */
#include "cli/report_open.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/frames.h"
#include "analysis/symbols/stack_lines.h"
#include "record/host_state.h"
#include "record/operation.h"
#include "util/error.h"
#include "util/file_name.h"

const struct grid_column report_open_columns[] = {
	{"open_ns", "open for", GRID_NS, GRID_ALWAYS, 0, false},
	{"rank", "rank", GRID_ID, GRID_IF_ANY, 0, false},
	{"pid", "pid", GRID_ID, GRID_IF_DIFFER, 0, false},
	{"process", "process", GRID_TEXT, GRID_IF_DIFFER, 4, false},
	{"tid", "tid", GRID_ID, GRID_ALWAYS, 2, false},
	{"thread", "thread", GRID_TEXT, GRID_ALWAYS, 3, false},
	{"state", "state", GRID_TEXT, GRID_DATA, 0, false},
	{"state_text", "thread is", GRID_TEXT, GRID_FOR_PEOPLE_IF_ANY, 1, false},
	{"waits_for", "at", GRID_TEXT, GRID_IF_ANY, 1, false},
	{"communicator", "communicator", GRID_ID, GRID_DATA, 0, false},
	{"sequence", "number", GRID_COUNT, GRID_IF_ANY, 0, false},
	{"peer", "peer", GRID_ID, GRID_IF_ANY, 0, false},
	{"id", "id", GRID_ID, GRID_DATA, 0, false},
	{"domain", "domain", GRID_TEXT, GRID_IF_DIFFER, 5, false},
	{"inside", "inside", GRID_TEXT, GRID_IF_ANY, 0, false},
	{"name", "call", GRID_TEXT, GRID_ALWAYS, 0, false},
	{"stack", "stack", GRID_LINES, GRID_DATA, 0, false},
	{"stack_text", "stack", GRID_LINES, GRID_FOR_PEOPLE_IF_ANY, 0, false},
};

/* Stacks --------------------------------------------------------------------------------- */

/* The stack of a thread in a snapshot. */
struct open_stack {
	uint32_t process, ordinal, number;
	uint64_t ns;
};

struct open_stacks {
	struct open_stack *list; /* the newest of each thread */
	size_t count, room;
	struct gt_frame_names *names; /* NULL: there are no stacks */
};

static void take_stack(struct open_stacks *s, const struct gt_item *item)
{
	size_t i = 0;

	while (i < s->count &&
	       (s->list[i].process != item->process || s->list[i].ordinal != item->ordinal))
		i++;
	if (i == s->count) {
		GROW_LIST(s->list, s->count, s->room);
		s->count++;
	}
	if (item->end_ns >= s->list[i].ns)
		s->list[i] = (struct open_stack){item->process, item->ordinal,
						 (uint32_t)item->args[0], item->end_ns};
}

/* Read the stacks that `gputap snapshot --stacks` has written. */
static void read_stacks(struct open_stacks *s, const struct gt_capture *c)
{
	struct gt_cursor *cursor;
	const struct gt_item *item;

	*s = (struct open_stacks){0};
	if (!gt_capture_stack_count(c))
		return;
	if (gt_cursor_create(c, &cursor)) {
		gt_error_clear();
		return;
	}
	gt_cursor_take_host(cursor);
	while (gt_cursor_next(cursor, &item) > 0)
		if (item->kind == GT_RECORD_HOST && item->push == GT_HOST_SAMPLE &&
		    item->args[3] == 1)
			take_stack(s, item);
	gt_cursor_destroy(cursor);
	if (s->count)
		s->names = gt_frame_names_create(c);
}

static void free_stacks(struct open_stacks *s)
{
	gt_frame_names_destroy(s->names);
	free(s->list);
}

/* Write the cells of a call's stack. @o: innermost open call of its thread */
static void put_stack(struct grid *g, struct grid_cell *cell, const struct open_stacks *s,
		      const struct gt_open_call_info *o)
{
	enum { ALL = 0, FEW = 8 };

	cell[0] = cell[1] = cell_none();
	for (size_t i = 0; s->names && i < s->count; i++) {
		struct gt_frames frames;
		char *all, *few;

		if (s->list[i].process != o->process || s->list[i].ordinal != o->ordinal ||
		    s->list[i].ns < o->start_ns)
			continue;
		frames = gt_frames_get(s->names, o->process, s->list[i].number);
		all = stack_lines(&frames, ALL);
		few = stack_lines(&frames, FEW);
		if (all && few) {
			cell[0] = cell_text(grid_keep(g, "%s", all));
			cell[1] = cell_text(grid_keep(g, "%s", few));
		}
		free(all);
		free(few);
	}
}

/* Table ---------------------------------------------------------------------------------- */

static struct grid_cell number_cell(uint64_t n)
{
	return n ? cell_count(n) : cell_none();
}

void report_make_open(struct grid *g, const struct summary *s)
{
	size_t count = 0;
	/* without a capture, only the columns are wanted */
	const struct gt_open_call_info *list =
		s->capture ? gt_capture_open_calls(s->capture, &count) : NULL;
	struct open_stacks stacks = {0};

	if (count)
		read_stacks(&stacks, s->capture);
	for (size_t i = 0; i < count; i++) {
		const struct gt_open_call_info *o = &list[i];
		const struct gt_process_info *p = gt_capture_process(s->capture, o->process);
		const struct gt_thread_info *t =
			gt_capture_thread_find(s->capture, o->process, o->ordinal);
		const struct gt_open_call_info *outer = open_call_outer(list, o);
		const struct gt_open_call_info *inner = o + 1;
		bool is_inner = inner == list + count || open_call_outer(list, inner) != o;
		bool is_known = o->state != GT_HOST_STATE_UNKNOWN;
		struct grid_cell *cell;

		if (!gt_operation(o->op))
			continue; /* from a later version */
		cell = grid_row(g);
		*cell++ = o->start_ns ? cell_count(open_call_duration_ns(o)) : cell_none();
		*cell++ = p->rank.rank >= 0 ? cell_count((uint64_t)p->rank.rank) : cell_none();
		*cell++ = cell_count(p->pid);
		*cell++ = cell_text(p->exe ? gt_file_name(p->exe) : NULL);
		*cell++ = t ? cell_count(t->tid) : cell_none();
		*cell++ = t && t->name && *t->name ? cell_text(t->name) : cell_none();
		*cell++ = is_known ? cell_text(gt_host_state_name(o->state)) : cell_none();
		*cell++ = is_known ? cell_text(gt_host_state_text(o->state)) : cell_none();
		*cell++ = *o->text ? cell_text(o->text) : cell_none();
		*cell++ = number_cell(o->communicator);
		*cell++ = number_cell(o->sequence);
		*cell++ = o->peer ? cell_count(o->peer - 1) : cell_none();
		*cell++ = cell_count(o->id);
		*cell++ = cell_text(gt_domain_name((enum gt_domain)GT_OP_DOMAIN(o->op)));
		*cell++ = outer ? cell_text(grid_keep(g, "%s", gt_operation_name(outer->op)))
				: cell_none();
		*cell++ = cell_text(grid_keep(g, "%s", gt_operation_name(o->op)));
		cell[0] = cell[1] = cell_none();
		if (is_inner)
			put_stack(g, cell, &stacks, o);
	}
	free_stacks(&stacks);
	grid_sort(g, 0, false);
}
