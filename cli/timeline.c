// SPDX-License-Identifier: MIT
#include "cli/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/lookup.h"
#include "util/error.h"

enum { PENDING = 8192, SPANS_MOST = 512 * 1024, RUN_BUFFER = 512 };

/* Spans in order, in the file or, when left is 0, all in the buffer. */
struct timeline_run {
	uint64_t at, left; /* bytes: where the next are, how many */
	struct timeline_span *buffer;
	size_t have, next;
};

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
	struct timeline_gap gap = {t->end_ns, span->start, 0, t->end_name, span->first};

	if (t->finished_any && gap.end > gap.start) {
		if (span->queued > gap.start)
			gap.starved_ns =
				(span->queued < gap.end ? span->queued : gap.end) - gap.start;
		t->starved_ns += gap.starved_ns;
		histogram_add(&t->gaps, gap.end - gap.start);
		keep_gap(t, &gap);
	}
	t->busy_ns += span->end - span->start;
	t->end_ns = span->end;
	t->end_name = span->last;
	t->finished_any = true;
}

/* Runs --------------------------------------------------------------------------- */

static bool open_timeline_file(struct timeline *t)
{
	const char *folder = getenv("TMPDIR");

	if (t->run_count)
		return true;
	t->file = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return t->file >= 0;
}

/* All spans become a run. When the file takes no more they stay where they are, now and later. */
static void spill_spans(struct timeline *t)
{
	size_t bytes = t->span_count * sizeof *t->spans, done = 0;

	if (t->no_file || !open_timeline_file(t)) {
		t->no_file = true;
		return;
	}
	while (done < bytes) {
		ssize_t n = pwrite(t->file, (char *)t->spans + done, bytes - done,
				   (off_t)(t->file_bytes + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			t->no_file = true;
			if (!t->run_count)
				close(t->file);
			return;
		}
		done += (size_t)n;
	}
	if (t->run_count == t->run_room) {
		size_t room = t->run_room ? t->run_room * 2 : 16;
		t->runs = lookup_grow(t->runs, t->run_room, room, sizeof *t->runs);
		t->run_room = room;
	}
	t->runs[t->run_count++] = (struct timeline_run){.at = t->file_bytes, .left = bytes};
	t->file_bytes += bytes;
	t->span_count = 0;
}

/* The run's buffer filled again. Return: 1, 0 at its end, negative errno. */
static int fill_run(struct timeline *t, struct timeline_run *r)
{
	size_t bytes = RUN_BUFFER * sizeof *r->buffer, done = 0;

	if (!r->left)
		return 0;
	if (!r->buffer)
		r->buffer = lookup_grow(NULL, 0, RUN_BUFFER, sizeof *r->buffer);
	bytes = r->left < bytes ? r->left : bytes;
	while (done < bytes) {
		ssize_t n = pread(t->file, (char *)r->buffer + done, bytes - done,
				  (off_t)(r->at + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return gt_error(n < 0 ? -errno : -EIO, "reading a temporary file");
		done += (size_t)n;
	}
	r->at += bytes;
	r->left -= bytes;
	r->have = bytes / sizeof *r->buffer;
	r->next = 0;
	return 1;
}

static bool run_before(const struct timeline_run *a, const struct timeline_run *b)
{
	return a->buffer[a->next].start < b->buffer[b->next].start;
}

/* The heap: no run is before its parent. */
static void sift_down(struct timeline_run *heap, size_t count, size_t i)
{
	for (;;) {
		size_t least = i, left = 2 * i + 1, right = left + 1;
		struct timeline_run swap;
		if (left < count && run_before(&heap[left], &heap[least]))
			least = left;
		if (right < count && run_before(&heap[right], &heap[least]))
			least = right;
		if (least == i)
			return;
		swap = heap[i];
		heap[i] = heap[least];
		heap[least] = swap;
		i = least;
	}
}

static int merge_runs(struct timeline *t)
{
	struct timeline_span now = {0};
	struct timeline_run *heap = t->runs;
	size_t count = t->run_count;
	bool any = false;
	int rc;

	for (size_t i = 0; i < count; i++) {
		rc = fill_run(t, &heap[i]);
		if (rc < 0)
			return rc;
	}
	for (size_t i = count / 2; i-- > 0;)
		sift_down(heap, count, i);
	while (count) {
		const struct timeline_span *span = &heap[0].buffer[heap[0].next];
		if (any && span->start <= now.end) {
			if (span->end > now.end) {
				now.end = span->end;
				now.last = span->last;
			}
		} else {
			if (any)
				finish_span(t, &now);
			now = *span;
			any = true;
		}
		if (++heap[0].next == heap[0].have) {
			rc = fill_run(t, &heap[0]);
			if (rc < 0)
				return rc;
			if (rc == 0) {
				free(heap[0].buffer);
				heap[0] = heap[--count];
				heap[count].buffer = NULL;
			}
		}
		sift_down(heap, count, 0);
	}
	if (any)
		finish_span(t, &now);
	return 0;
}

/* Spans -------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct timeline_span *x = a, *y = b;
	return x->start != y->start ? (x->start > y->start ? 1 : -1)
				    : (x->end > y->end) - (x->end < y->end);
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
		/* not zeroed: each span is written whole */
		t->spans = lookup_grow(t->spans, room, room, sizeof *t->spans);
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
	if (t->disorder)
		qsort(t->pending, t->pending_count, sizeof *t->pending, by_start);
	t->disorder = false;
	from = find_span(t, t->pending[0].start);
	tail_count = t->span_count - from;
	tail = lookup_grow(NULL, 0, tail_count, sizeof *tail);
	if (tail_count)
		memcpy(tail, t->spans + from, tail_count * sizeof *tail);
	t->span_count = from;
	while (i < tail_count || j < t->pending_count) {
		bool old = j == t->pending_count ||
			   (i < tail_count && tail[i].start <= t->pending[j].start);
		append_span(t, old ? &tail[i++] : &t->pending[j++]);
	}
	free(tail);
	t->pending_count = 0;
	if (t->span_count > (t->spans_most ? t->spans_most : SPANS_MOST))
		spill_spans(t);
}

void timeline_add(struct timeline *t, const struct timeline_span *work)
{
	if (!t->any || work->start < t->first_ns)
		t->first_ns = work->start;
	if (!t->any || work->end > t->last_ns)
		t->last_ns = work->end;
	t->any = true;
	if (t->pending_count == t->pending_room) { /* many may have little work each */
		size_t room = t->pending_room ? 4 * t->pending_room : PENDING / 256;

		t->pending = lookup_grow(t->pending, t->pending_room, room, sizeof *t->pending);
		t->pending_room = room;
	}
	if (t->pending_count && work->start < t->pending[t->pending_count - 1].start)
		t->disorder = true;
	t->pending[t->pending_count++] = *work;
	if (t->pending_count == PENDING)
		merge_pending(t);
}

int timeline_finish(struct timeline *t)
{
	merge_pending(t);
	if (t->span_count) { /* what is in memory is one more run */
		if (t->run_count == t->run_room)
			t->runs =
				lookup_grow(t->runs, t->run_room, t->run_room + 1, sizeof *t->runs);
		t->runs[t->run_count++] =
			(struct timeline_run){.buffer = t->spans, .have = t->span_count};
		t->spans = NULL;
		t->span_count = 0;
	}
	return merge_runs(t);
}

void timeline_fini(struct timeline *t)
{
	histogram_fini(&t->gaps);
	for (size_t i = 0; i < t->run_count; i++)
		free(t->runs[i].buffer);
	if (t->file_bytes)
		close(t->file);
	free(t->runs);
	free(t->spans);
	free(t->pending);
	*t = (struct timeline){0};
}
