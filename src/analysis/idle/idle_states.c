/* SPDX-License-Identifier: MIT */
/* See idle_states.h. This file reads the rows of each thread in order of time. idle_interval.c
 * splits an interval. */
#include "analysis/idle/idle_states.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/sorter.h"
#include "analysis/idle/idle_interval.h"

struct idle_states {
	const struct gt_capture *capture;
	struct texts *names;
	struct sorter rows;
	/* Rows of the current thread that the next interval may need, in order of their start */
	struct idle_state_row *window;
	size_t count, room;
	struct idle_state_row next; /* first row that was not added to the window */
	bool has_next, is_begun;
	uint32_t thread;
	struct idle_interval interval;
};

static int compare_rows(const void *a, const void *b)
{
	const struct idle_state_row *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->detail != y->detail)
		return x->detail < y->detail ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

struct idle_states *idle_states_create(const struct gt_capture *capture, struct texts *names,
				       size_t packed_most)
{
	struct idle_states *t = allocate_list(1, sizeof *t);

	t->capture = capture;
	t->names = names;
	t->rows = (struct sorter){.row_bytes = sizeof(struct idle_state_row),
				  .compare = compare_rows,
				  .packed_most = packed_most};
	return t;
}

void idle_states_destroy(struct idle_states *t)
{
	if (!t)
		return;
	sorter_fini(&t->rows);
	free(t->window);
	free(t->interval.spans);
	free(t);
}

/* Return the name of the thread with a tid, or NULL. */
static const char *find_name(const struct gt_capture *c, uint32_t process, uint64_t tid)
{
	for (size_t i = 0; i < gt_capture_thread_count(c); i++) {
		const struct gt_thread_info *thread = gt_capture_thread(c, i);

		if (thread->process == process && thread->tid == tid)
			return thread->name;
	}
	return NULL;
}

/* Describe what a thread waited for: the file, the pipe, the holder of the lock. */
static uint32_t name_wait(struct idle_states *t, const struct gt_item *item)
{
	const char *text = gt_capture_string(t->capture, item->process, (uint32_t)item->args[1]);
	const uint64_t tid = item->args[2];
	const bool is_held = item->op == GT_HOST_STATE_LOCK && tid;
	const char *name;
	char made[256];

	if (*text && !is_held)
		return texts_put(t->names, text);
	if (!tid)
		return LOOKUP_NONE;
	name = find_name(t->capture, item->process, tid);
	if (*text)
		snprintf(made, sizeof made, "held by %.240s", text);
	else
		snprintf(made, sizeof made, "%s%.32s%sthread %" PRIu64 "%s",
			 is_held ? "held by " : "", name ? name : "", name ? " (" : "", tid,
			 name ? ")" : "");
	return texts_put(t->names, made);
}

void idle_states_add(struct idle_states *t, const struct gt_item *item, uint32_t thread)
{
	struct idle_state_row row = {.start = item->start_ns,
				     .end = item->end_ns,
				     .thread = thread,
				     .detail = item->push,
				     .wait = LOOKUP_NONE};

	if (item->push == GT_HOST_USAGE) {
		row.usage = (struct idle_usage){.cpu_ns = item->args[0],
						.voluntary = item->args[1],
						.involuntary = item->args[2],
						.minor_faults = item->args[3],
						.major_faults = item->args[4],
						.system_ns = item->args[7]};
	} else if (item->push == GT_HOST_STATE && item->op < GT_HOST_STATE_COUNT) {
		row.state = item->op;
		row.has_holder = item->args[2] != 0;
		row.delay_ns = item->args[4];
		row.cpu_ns = item->args[5];
		row.wait = name_wait(t, item);
	} else {
		return;
	}
	sorter_add(&t->rows, &row);
}

/* Rows -------------------------------------------------------------------------------- */

static int read_next(struct idle_states *t)
{
	const void *row;
	int rc = sorter_next(&t->rows, &row);

	t->has_next = rc > 0;
	if (rc > 0)
		t->next = *(const struct idle_state_row *)row;
	return rc < 0 ? rc : 0;
}

int idle_states_begin(struct idle_states *t, uint32_t thread)
{
	int status = t->is_begun ? 0 : read_next(t);

	t->is_begun = true;
	while (!status && t->has_next && t->next.thread < thread)
		status = read_next(t);
	t->count = 0;
	t->thread = thread;
	t->interval.count = 0;
	t->interval.from = t->interval.to = 0;
	return status;
}

/* Remove rows that no later interval needs: all except the last usage up to @from, and states that
 * end after @from. */
static void forget_rows(struct idle_states *t, uint64_t from)
{
	size_t kept = 0, last = t->count;

	for (size_t i = 0; i < t->count && t->window[i].start <= from; i++)
		if (t->window[i].detail == GT_HOST_USAGE)
			last = i;
	for (size_t i = 0; i < t->count; i++) {
		const struct idle_state_row *row = &t->window[i];

		if (row->detail == GT_HOST_USAGE ? i == last || row->start > from
						 : row->end >= from)
			t->window[kept++] = *row;
	}
	t->count = kept;
}

/* Read until the first usage at @to or later. */
static int read_window(struct idle_states *t, uint64_t to)
{
	bool has_usage = false;
	int status = 0;

	for (size_t i = 0; i < t->count; i++)
		has_usage |= idle_is_usage_from(&t->window[i], to);
	while (!status && t->has_next && t->next.thread == t->thread &&
	       (!has_usage || t->next.start < to)) {
		GROW_LIST(t->window, t->count, t->room);
		t->window[t->count++] = t->next;
		has_usage |= idle_is_usage_from(&t->next, to);
		status = read_next(t);
	}
	return status;
}

const struct idle_interval *idle_states_read(struct idle_states *t, uint64_t from, uint64_t to,
					     int *status)
{
	struct idle_interval *v = &t->interval;

	if (v->from == from && v->to == to)
		return v;
	forget_rows(t, from);
	*status = read_window(t, to - idle_edge_ns(from, to));
	if (*status)
		return NULL;
	v->from = from;
	v->to = to;
	idle_interval_split(v, t->window, t->count);
	return v;
}
