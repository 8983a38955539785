/* SPDX-License-Identifier: MIT */
/* See report_open.h. */
#include "cli/report_open.h"

#include "record/operation.h"
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
};

static struct grid_cell number_cell(uint64_t n)
{
	return n ? cell_count(n) : cell_none();
}

void report_make_open(struct grid *g, const struct summary *s)
{
	size_t count;
	const struct gt_open_call_info *list = gt_capture_open_calls(s->capture, &count);

	for (size_t i = 0; i < count; i++) {
		const struct gt_open_call_info *o = &list[i];
		const struct gt_process_info *p = gt_capture_process(s->capture, o->process);
		const struct gt_thread_info *t =
			gt_capture_thread_find(s->capture, o->process, o->ordinal);
		const struct gt_open_call_info *outer = open_call_outer(list, o);
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
	}
	grid_sort(g, 0, false);
}
