/* SPDX-License-Identifier: MIT */
/* See range_tops.h. */
#include "dataset/range_tops.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/base/guard_memory.h"
#include "analysis/base/sorter.h"
#include "util/error.h"

struct span {
	uint64_t first, last; /* first and last call of the range */
};

struct range_tops {
	struct range_top last; /* first member: range_tops_find() */
	struct reader *reader;
	uint32_t process, ordinal;
	bool has_thread;
	size_t stream; /* where the search for the thread's stream begins */
	struct sorter spans;
	struct span next; /* next range to open; first UINT64_MAX: none */
	struct span *open;
	size_t depth, room;
	int status; /* error of the sorter */
	/* used while ranges are read; members, so that an error cannot leak them */
	struct gt_cursor *cursor;
	struct gt_ranges ranges;
};

/* Outer ranges first. */
static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->last < y->last) - (x->last > y->last);
}

int range_marks_open(struct reader *r, size_t first_stream, size_t count, struct gt_cursor **out)
{
	int status = gt_cursor_create(r->dataset->capture, out);

	if (status)
		return status;
	gt_cursor_take_marks(*out);
	gt_cursor_take_streams(*out, first_stream, count);
	return 0;
}

int range_tops_create(struct reader *r, struct range_tops **out)
{
	struct range_tops *t = calloc(1, sizeof *t);

	*out = t;
	if (!t)
		return gt_error(-ENOMEM, "cannot find the ranges of calls");
	t->reader = r;
	t->stream = r->first_stream;
	t->next.first = UINT64_MAX;
	return 0;
}

static void forget(struct range_tops *t)
{
	gt_cursor_destroy(t->cursor);
	t->cursor = NULL;
	gt_ranges_fini(&t->ranges);
	t->ranges = (struct gt_ranges){0};
	sorter_fini(&t->spans);
	t->spans = (struct sorter){.row_bytes = sizeof(struct span), .compare = compare_spans};
	t->depth = 0;
	t->last = (struct range_top){0, 0, 0};
}

void range_tops_destroy(struct range_tops *t)
{
	if (!t)
		return;
	forget(t);
	free(t->open);
	free(t);
}

static void add_span(struct range_tops *t, const struct gt_range *range, bool ended)
{
	const struct span s = {range->begun, ended ? range->ended : UINT64_MAX};

	/* ranges that several threads start and stop contain no calls of a certain thread */
	if (!range->across && !range->instant && s.first && s.last >= s.first)
		sorter_add(&t->spans, &s);
}

static int read_spans(struct range_tops *t)
{
	const struct gt_item *item;
	struct gt_range range;
	int status;

	while ((status = gt_cursor_next(t->cursor, &item)) > 0) {
		if (item->kind != GT_RECORD_CALL || !gt_mark_of(item->op))
			continue;
		status = gt_ranges_step(&t->ranges, item, &range);
		if (status < 0)
			return status;
		if (status)
			add_span(t, &range, true);
	}
	while (!status && gt_ranges_rest(&t->ranges, &range))
		add_span(t, &range, false);
	return status;
}

/* Read the next range from the sorted list. */
static int take_next(struct range_tops *t)
{
	const void *row;
	int status = sorter_next(&t->spans, &row);

	t->next = status > 0 ? *(const struct span *)row : (struct span){UINT64_MAX, 0};
	return status < 0 ? status : 1;
}

int range_tops_enter(struct range_tops *t, const struct thread_number *thread)
{
	const struct gt_capture *c = t->reader->dataset->capture;
	int status;

	if (t->status < 0)
		return t->status;
	if (t->has_thread && t->process == thread->process && t->ordinal == thread->ordinal)
		return 1;
	forget(t);
	t->has_thread = true;
	t->process = thread->process;
	t->ordinal = thread->ordinal;
	while (t->stream < gt_capture_stream_count(c)) {
		const struct gt_stream_info s = gt_capture_stream_at(c, t->stream);

		if (s.process == thread->process && s.ordinal == thread->ordinal)
			break;
		t->stream++;
	}
	status = range_marks_open(t->reader, t->stream, 1, &t->cursor);
	if (!status)
		status = read_spans(t);
	return status < 0 ? status : take_next(t);
}

static void push_span(struct range_tops *t)
{
	GROW_LIST(t->open, t->depth, t->room);
	t->open[t->depth++] = t->next;
}

uint64_t range_tops_search(struct range_tops *t, uint64_t id)
{
	t->last = (struct range_top){id, id, 0};
	while (t->next.first < id && t->status >= 0) {
		while (t->depth && t->open[t->depth - 1].last < t->next.first)
			t->depth--;
		push_span(t);
		t->status = take_next(t);
	}
	while (t->depth && t->open[t->depth - 1].last < id)
		t->depth--;
	for (size_t i = t->depth; i-- > 0;) /* ranges may cross each other */
		if (t->open[i].first < id && t->open[i].last >= id) {
			t->last.first = t->open[i].first;
			if (i + 1 == t->depth)
				t->last.until = t->open[i].last;
			break;
		}
	/* a range that starts with a later call does not contain that call */
	if (!t->depth || t->last.until > t->next.first)
		t->last.until = t->next.first;
	return t->last.first;
}
