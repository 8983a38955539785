/* SPDX-License-Identifier: MIT */
#include "analysis/tables/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/lookup.h"

enum {
	PENDING = 8192,
	SPANS_MOST = 512 * 1024,
	/* smallest number of pending spans before they are merged, used if a pool is full */
	PENDING_LEAST = 512,
	SPANS_LEAST = 1024,
	POOL_BYTES = 1 << 30,
};

/* Memory ------------------------------------------------------------------------- */

static bool is_pool_full(const struct timeline *t)
{
	return t->pool && t->pool->bytes > (t->pool->bytes_most ? t->pool->bytes_most : POOL_BYTES);
}

/* Resize or free @rows. New rows are not zeroed, because each row is written completely. */
static void set_room(struct timeline *t, struct timeline_span **rows, size_t *room, size_t wanted)
{
	if (t->pool)
		t->pool->bytes += (wanted - *room) * sizeof **rows;
	if (wanted) {
		*rows = resize_list(*rows, wanted, wanted, sizeof **rows);
	} else {
		free(*rows);
		*rows = NULL;
	}
	*room = wanted;
}

/* Gaps --------------------------------------------------------------------------- */

static void keep_gap(struct timeline *t, const struct timeline_gap *gap)
{
	unsigned i = t->largest_count;

	if (i == TIMELINE_GAPS && gap->idle_ns <= t->largest[i - 1].idle_ns)
		return;
	if (i == TIMELINE_GAPS)
		i--;
	else
		t->largest_count++;
	for (; i && gap->idle_ns > t->largest[i - 1].idle_ns; i--)
		t->largest[i] = t->largest[i - 1];
	t->largest[i] = *gap;
}

static void finish_gap(struct timeline *t, const struct timeline_span *span)
{
	struct timeline_gap gap = {.start = t->end_ns,
				   .end = span->start,
				   .before = t->end_name,
				   .after = span->first};
	const uint64_t queued = span->queued < gap.end ? span->queued : gap.end,
		       unrecorded =
			       t->unrecorded ? unrecorded_ns(t->unrecorded, gap.start, gap.end) : 0;

	t->unrecorded_ns += unrecorded;
	gap.idle_ns = gap.end - gap.start - unrecorded;
	if (!gap.idle_ns)
		return;
	if (queued > gap.start)
		gap.starved_ns = queued - gap.start -
				 (unrecorded ? unrecorded_ns(t->unrecorded, gap.start, queued) : 0);
	t->starved_ns += gap.starved_ns;
	histogram_add(&t->gaps, gap.idle_ns);
	keep_gap(t, &gap);
}

static void finish_span(struct timeline *t, const struct timeline_span *span)
{
	if (t->finished_any && span->start > t->end_ns)
		finish_gap(t, span);
	if (t->each)
		t->each(t->each_data, span->start, span->end);
	t->busy_ns += span->end - span->start;
	t->end_ns = span->end;
	t->end_name = span->last;
	t->finished_any = true;
}

/* Spans -------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct timeline_span *x = a, *y = b;
	return x->start != y->start ? (x->start > y->start ? 1 : -1)
				    : (x->end > y->end) - (x->end < y->end);
}

static struct sorter *get_runs(struct timeline *t)
{
	t->runs.row_bytes = sizeof *t->spans;
	t->runs.compare = by_start;
	t->runs.shared = t->pool ? &t->pool->file : NULL;
	return &t->runs;
}

/* Return the first span that ends at or after @time. */
static size_t find_span(const struct timeline *t, uint64_t time)
{
	size_t low = 0, high = t->span_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (t->spans[middle].end < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void append_span(struct timeline *t, const struct timeline_span *span)
{
	struct timeline_span *newest = t->span_count ? &t->spans[t->span_count - 1] : NULL;

	if (newest && span->start <= newest->end) {
		if (span->end > newest->end) {
			newest->end = span->end;
			newest->last = span->last;
		}
		return;
	}
	if (t->span_count == t->span_room)
		set_room(t, &t->spans, &t->span_room,
			 t->span_room ? t->span_room * 2 : SPANS_LEAST);
	t->spans[t->span_count++] = *span;
}

static void write_spans(struct timeline *t)
{
	sorter_add_sorted(get_runs(t), t->spans,
			  t->span_count); /* merge_runs() returns a failure */
	t->span_count = 0;
	if (is_pool_full(t))
		set_room(t, &t->spans, &t->span_room, 0);
}

/* Merge pending spans into the sorted spans, comparing only spans that they can touch. */
static void merge_pending(struct timeline *t)
{
	size_t from, tail_count, i = 0, j = 0;
	struct timeline_span *tail;

	if (!t->pending_count)
		return;
	if (t->disorder)
		qsort(t->pending, t->pending_count, sizeof *t->pending, by_start);
	t->disorder = false;
	from = find_span(t, t->pending[0].start);
	tail_count = t->span_count - from;
	tail = allocate_scratch(tail_count, sizeof *tail);
	if (tail_count)
		memcpy(tail, t->spans + from, tail_count * sizeof *tail);
	t->span_count = from;
	while (i < tail_count || j < t->pending_count) {
		bool old = j == t->pending_count ||
			   (i < tail_count && tail[i].start <= t->pending[j].start);
		append_span(t, old ? &tail[i++] : &t->pending[j++]);
	}
	free_scratch(tail);
	t->pending_count = 0;
	if (is_pool_full(t) && t->pending_room > PENDING_LEAST)
		set_room(t, &t->pending, &t->pending_room, 0);
	if (t->span_count > (t->spans_most ? t->spans_most : SPANS_MOST) ||
	    (is_pool_full(t) && t->span_count >= SPANS_LEAST))
		write_spans(t);
}

void timeline_add(struct timeline *t, const struct timeline_span *activity)
{
	if (!t->any || activity->start < t->first_ns)
		t->first_ns = activity->start;
	if (!t->any || activity->end > t->last_ns)
		t->last_ns = activity->end;
	t->any = true;
	if (t->pending_count == t->pending_room) /* many timelines may have few activities each */
		set_room(t, &t->pending, &t->pending_room,
			 t->pending_room ? 4 * t->pending_room : PENDING / 256);
	if (t->pending_count && activity->start < t->pending[t->pending_count - 1].start)
		t->disorder = true;
	t->pending[t->pending_count++] = *activity;
	if (t->pending_count >= (is_pool_full(t) ? PENDING_LEAST : PENDING))
		merge_pending(t);
}

/* Merge the spans of all runs, joining spans that touch each other. */
static int merge_runs(struct timeline *t)
{
	struct timeline_span now = {0};
	const void *row;
	bool any = false;
	int rc;

	while ((rc = sorter_next(&t->runs, &row)) > 0) {
		const struct timeline_span *span = row;

		if (any && span->start <= now.end) {
			if (span->end > now.end) {
				now.end = span->end;
				now.last = span->last;
			}
			continue;
		}
		if (any)
			finish_span(t, &now);
		now = *span;
		any = true;
	}
	if (any && rc == 0)
		finish_span(t, &now);
	return rc;
}

int timeline_finish(struct timeline *t)
{
	merge_pending(t);
	if (t->pool)
		t->pool->bytes -= t->span_room * sizeof *t->spans;
	if (t->span_count) { /* the spans in memory become an additional run */
		sorter_take_sorted(get_runs(t), t->spans, t->span_count);
		t->spans = NULL;
		t->span_count = t->span_room = 0;
	}
	return merge_runs(t);
}

void timeline_fini(struct timeline *t)
{
	histogram_fini(&t->gaps);
	sorter_fini(&t->runs);
	free(t->spans);
	free(t->pending);
	*t = (struct timeline){0};
}

void timeline_pool_fini(struct timeline_pool *p)
{
	sorter_file_close(&p->file);
	*p = (struct timeline_pool){0};
}
