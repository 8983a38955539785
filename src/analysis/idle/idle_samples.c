/* SPDX-License-Identifier: MIT */
/* See idle_samples.h. */
#include "analysis/idle/idle_samples.h"

#include <stdlib.h>

#include "analysis/base/lookup.h"
#include "analysis/base/sorter.h"

/* Samples between two calls; further ones are not used, so that memory is bounded. */
enum { ROWS_MOST = 1 << 20 };
/* Longest time before the first and after the last sample between two calls. */
static const uint64_t AROUND_NS = 50000000;

/* Must not contain padding. */
struct sample_row {
	uint64_t start, end;
	uint32_t thread, process, stack, pad;
};

struct idle_samples {
	struct sorter rows;
	/* rows of the current thread that the next calls may need, in order of their start */
	struct sample_row *window;
	size_t count, room;
	struct sample_row next; /* first row that was not added to the window */
	bool has_next, is_begun;
	uint32_t thread;
	uint64_t from, to; /* of the spans */
	struct idle_sampled_span *spans;
	size_t span_count, span_room;
};

static int compare_rows(const void *a, const void *b)
{
	const struct sample_row *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

struct idle_samples *idle_samples_create(size_t packed_most)
{
	struct idle_samples *t = allocate_list(1, sizeof *t);

	t->rows = (struct sorter){.row_bytes = sizeof(struct sample_row),
				  .compare = compare_rows,
				  .packed_most = packed_most};
	return t;
}

void idle_samples_destroy(struct idle_samples *t)
{
	if (!t)
		return;
	sorter_fini(&t->rows);
	free(t->window);
	free(t->spans);
	free(t);
}

void idle_samples_add(struct idle_samples *t, const struct gt_item *item, uint32_t thread)
{
	const struct sample_row row = {.start = item->start_ns,
				       .end = item->end_ns,
				       .thread = thread,
				       .process = item->process,
				       .stack = (uint32_t)item->args[0]};

	if (row.stack && row.start <= row.end)
		sorter_add(&t->rows, &row);
}

static int read_next(struct idle_samples *t)
{
	const void *row;
	int rc = sorter_next(&t->rows, &row);

	t->has_next = rc > 0;
	if (rc > 0)
		t->next = *(const struct sample_row *)row;
	return rc < 0 ? rc : 0;
}

int idle_samples_begin(struct idle_samples *t, uint32_t thread)
{
	int status = t->is_begun ? 0 : read_next(t);

	t->is_begun = true;
	while (!status && t->has_next && t->next.thread < thread)
		status = read_next(t);
	t->count = t->span_count = 0;
	t->thread = thread;
	t->from = t->to = 0;
	return status;
}

/* Remove rows that end before @from, and read rows that start before @to. */
static int read_window(struct idle_samples *t, uint64_t from, uint64_t to)
{
	size_t kept = 0;
	int status = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->window[i].end >= from)
			t->window[kept++] = t->window[i];
	t->count = kept;
	while (!status && t->has_next && t->next.thread == t->thread && t->next.start < to) {
		if (t->next.end >= from && t->count < ROWS_MOST) {
			GROW_LIST(t->window, t->count, t->room);
			t->window[t->count++] = t->next;
		}
		status = read_next(t);
	}
	return status;
}

static void make_spans(struct idle_samples *t, uint64_t from, uint64_t to)
{
	struct idle_sampled_span *spans;
	size_t count = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct sample_row *row = &t->window[i];

		if (row->start >= to || row->end < from)
			continue;
		GROW_LIST(t->spans, count, t->span_room);
		t->spans[count++] =
			(struct idle_sampled_span){row->start > from ? row->start : from,
						   row->end < to ? row->end : to, row->process,
						   row->stack};
	}
	spans = t->spans;
	for (size_t i = 0; i + 1 < count; i++) {
		const uint64_t end = spans[i].end, start = spans[i + 1].start;

		spans[i].end = end < start ? end + (start - end) / 2 : start;
		spans[i + 1].start = spans[i].end;
	}
	if (count && spans[0].start > from)
		spans[0].start =
			spans[0].start - from > AROUND_NS ? spans[0].start - AROUND_NS : from;
	if (count && spans[count - 1].end < to)
		spans[count - 1].end = to - spans[count - 1].end > AROUND_NS
					       ? spans[count - 1].end + AROUND_NS
					       : to;
	t->span_count = count;
}

int idle_samples_read(struct idle_samples *t, uint64_t from, uint64_t to)
{
	int status;

	if (t->from == from && t->to == to)
		return 0;
	status = read_window(t, from, to);
	if (status)
		return status;
	t->from = from;
	t->to = to;
	make_spans(t, from, to);
	return 0;
}

const struct idle_sampled_span *idle_samples_spans(const struct idle_samples *t, size_t *count)
{
	*count = t->span_count;
	return t->spans;
}

size_t idle_samples_find(const struct idle_samples *t, uint64_t time)
{
	size_t low = 0, high = t->span_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (t->spans[middle].end <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
