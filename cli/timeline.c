// SPDX-License-Identifier: MIT
#include "cli/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "cli/lookup.h"

enum { PENDING = 8192, SPANS_MOST = 256 * 1024 };

static void keep_gap(struct timeline *t, const struct timeline_gap *gap)
{
	uint64_t length = gap->end - gap->start;
	unsigned i = t->largest_count;

	if (i == TIMELINE_GAPS && length <= t->largest[i - 1].end - t->largest[i - 1].start)
		return;
	if (i == TIMELINE_GAPS)
		i--;
	else
		t->largest_count++;
	for (; i && length > t->largest[i - 1].end - t->largest[i - 1].start; i--)
		t->largest[i] = t->largest[i - 1];
	t->largest[i] = *gap;
}

static void finish_span(struct timeline *t, const struct timeline_span *span)
{
	struct timeline_gap gap = { t->frontier, span->start, 0, t->frontier_last, span->first };

	if (t->finished_any && gap.end > gap.start) {
		if (span->queued > gap.start)
			gap.starved_ns = (span->queued < gap.end ? span->queued : gap.end) - gap.start;
		t->starved_ns += gap.starved_ns;
		histogram_add(&t->gaps, gap.end - gap.start);
		keep_gap(t, &gap);
	}
	t->busy_ns += span->end - span->start;
	t->frontier = span->end;
	t->frontier_last = span->last;
	t->finished_any = true;
}

static void finish_spans(struct timeline *t, size_t count)
{
	for (size_t i = 0; i < count; i++)
		finish_span(t, &t->spans[i]);
	t->span_count -= count;
	if (t->span_count)
		memmove(t->spans, t->spans + count, t->span_count * sizeof *t->spans);
}

static int by_start(const void *a, const void *b)
{
	const struct timeline_span *x = a, *y = b;
	return x->start != y->start ? (x->start > y->start ? 1 : -1) : (x->end > y->end) - (x->end < y->end);
}

/* First span that ends at or after @time. */
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
	if (t->span_count == t->span_room) {
		size_t room = t->span_room ? t->span_room * 2 : 1024;
		t->spans = lookup_grow(t->spans, t->span_room, room, sizeof *t->spans);
		t->span_room = room;
	}
	t->spans[t->span_count++] = *span;
}

/* Merge what is pending into the spans; only those that it can touch are looked at. */
static void merge_pending(struct timeline *t)
{
	size_t from, tail_count, i = 0, j = 0;
	struct timeline_span *tail;

	if (!t->pending_count)
		return;
	qsort(t->pending, t->pending_count, sizeof *t->pending, by_start);
	from = find_span(t, t->pending[0].start);
	tail_count = t->span_count - from;
	tail = lookup_grow(NULL, 0, tail_count, sizeof *tail);
	if (tail_count)
		memcpy(tail, t->spans + from, tail_count * sizeof *tail);
	t->span_count = from;
	while (i < tail_count || j < t->pending_count) {
		bool old = j == t->pending_count || (i < tail_count && tail[i].start <= t->pending[j].start);
		append_span(t, old ? &tail[i++] : &t->pending[j++]);
	}
	free(tail);
	t->pending_count = 0;
	if (t->span_count > SPANS_MOST)
		finish_spans(t, t->span_count / 2);
}

void timeline_add(struct timeline *t, const struct timeline_span *work)
{
	struct timeline_span span = *work;

	if (!t->any || span.start < t->first_ns)
		t->first_ns = span.start;
	if (!t->any || span.end > t->last_ns)
		t->last_ns = span.end;
	t->any = true;
	if (t->finished_any && span.start < t->frontier) {
		t->late_ns += (span.end < t->frontier ? span.end : t->frontier) - span.start;
		if (span.end <= t->frontier)
			return;
		span.start = t->frontier;
	}
	if (!t->pending)
		t->pending = lookup_grow(NULL, 0, PENDING, sizeof *t->pending);
	t->pending[t->pending_count++] = span;
	if (t->pending_count == PENDING)
		merge_pending(t);
}

void timeline_finish(struct timeline *t)
{
	merge_pending(t);
	finish_spans(t, t->span_count);
}

void timeline_fini(struct timeline *t)
{
	histogram_fini(&t->gaps);
	free(t->spans);
	free(t->pending);
	*t = (struct timeline){ 0 };
}
