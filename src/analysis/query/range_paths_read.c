/* SPDX-License-Identifier: MIT */
/* See range_paths_read.h. Ranges that an expression counts are sorted by process and start before
 * they get their numbers. They are then added twice: under their name, and under their number. */
#include "analysis/query/range_paths_read.h"

#include <stdlib.h>

#include "analysis/base/sorter.h"
#include "analysis/model/ranges.h"

/* A range that another thread has ended. Only the time of its end is known, so the last call of the
 * range's own thread in the range must be found. */
struct timed_range {
	uint64_t thread, begun, end_ns;
	uint32_t name;
};

/* A range whose name the expression counts. */
struct counted_range {
	uint64_t start_ns, end_ns, thread, begun;
	/* call that ended the range; 0: the range was not ended by a call of the same thread */
	uint64_t ended;
	uint64_t open; /* 1 if the range was never ended */
	uint32_t process, occurrence;
};

struct ranges_read {
	struct range_paths *range_paths;
	struct texts *names;
	struct filter *filter;
	const struct gt_capture *capture;
	struct gt_cursor *cursor; /* NULL: none is open */
	struct gt_ranges ranges;
	struct timed_range *timed;
	uint32_t timed_count, timed_room;
	struct sorter counted;
	/* for each name: one bit for each occurrence in the expression that refers to ranges of
	 * this name */
	uint64_t *named;
	/* for each name: 1 if the name was looked up, so that its element of `named` is valid */
	uint8_t *asked;
	uint32_t named_room, asked_room;
};

static int compare_counted(const void *a, const void *b)
{
	const struct counted_range *x = a, *y = b;

	if (x->occurrence != y->occurrence)
		return x->occurrence < y->occurrence ? -1 : 1;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->begun > y->begun) - (x->begun < y->begun);
}

static int compare_timed(const void *a, const void *b)
{
	const struct timed_range *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* Return the index of the thread's first range. */
static uint32_t find_timed(const struct ranges_read *r, uint64_t thread)
{
	uint32_t low = 0, high = r->timed_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (r->timed[middle].thread < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void close_cursor(struct ranges_read *r)
{
	gt_cursor_destroy(r->cursor);
	r->cursor = NULL;
}

/* Find the last call in each range for which only the end time is known. A thread's calls are read
 * in order of their start. If a range ended before a call, the range's last call is an earlier
 * one. */
static int end_timed(struct ranges_read *r)
{
	uint64_t thread = UINT64_MAX, last = 0;
	const struct gt_item *item;
	uint32_t next = 0;
	int rc = gt_cursor_create(r->capture, &r->cursor);

	if (rc)
		return rc;
	qsort(r->timed, r->timed_count, sizeof *r->timed, compare_timed);
	do {
		uint64_t of = 0;

		rc = gt_cursor_next(r->cursor, &item);
		if (rc == 1 && item->kind != GT_RECORD_CALL)
			continue;
		if (rc == 1)
			of = range_paths_thread(item->process, item->ordinal);
		for (; next < r->timed_count && r->timed[next].thread == thread &&
		       (rc != 1 || of != thread || r->timed[next].end_ns < item->start_ns);
		     next++) {
			const struct timed_range *t = &r->timed[next];

			range_paths_add(r->range_paths, thread, t->begun,
					last > t->begun ? last : t->begun, t->name);
		}
		if (rc == 1 && of != thread) {
			thread = of;
			next = find_timed(r, thread);
		}
		last = rc == 1 ? item->id : 0;
	} while (rc == 1);
	close_cursor(r);
	return rc;
}

static void add_range(struct ranges_read *r, const struct counted_range *range, uint32_t name)
{
	if (range->ended) {
		range_paths_add(r->range_paths, range->thread, range->begun, range->ended, name);
		return;
	}
	GROW_LIST(r->timed, r->timed_count, r->timed_room);
	r->timed[r->timed_count++] =
		(struct timed_range){range->thread, range->begun,
				     range->open ? UINT64_MAX : range->end_ns, name};
}

/* Return the occurrences that refer to ranges of this name. */
static uint64_t find_occurrences(struct ranges_read *r, uint32_t name)
{
	GROW_LIST(r->named, name, r->named_room);
	GROW_LIST(r->asked, name, r->asked_room);
	if (r->asked[name])
		return r->named[name];
	r->asked[name] = 1;
	for (uint32_t i = 0; i < filter_occurrence_count(r->filter); i++)
		if (filter_occurrence_named(r->filter, i, texts_get(r->names, name)))
			r->named[name] |= UINT64_C(1) << i;
	return r->named[name];
}

static void take_range(struct ranges_read *r, const struct gt_range *range, bool open)
{
	struct counted_range row = {
		.start_ns = range->start_ns,
		.end_ns = range->end_ns,
		.thread = range_paths_thread(range->process, range->ordinal),
		.begun = range->begun,
		.ended = range->ended,
		.open = open,
		.process = range->process,
	};
	uint32_t name;
	uint64_t occurrences;

	if (range->instant)
		return;
	name = texts_put(r->names, range->name);
	add_range(r, &row, name);
	occurrences = filter_occurrence_count(r->filter) ? find_occurrences(r, name) : 0;
	for (; occurrences; occurrences &= occurrences - 1) {
		row.occurrence = (uint32_t)__builtin_ctzll(occurrences);
		sorter_add(&r->counted, &row);
	}
}

/* Count the ranges in order of their start. Add each range that the expression refers to once more,
 * under its number. */
static int count_ranges(struct ranges_read *r)
{
	char text[FILTER_OCCURRENCE_BYTES];
	struct counted_range last = {.occurrence = UINT32_MAX};
	const void *next;
	uint64_t n = 0;
	int rc = 0;

	while (filter_occurrence_count(r->filter) && (rc = sorter_next(&r->counted, &next)) == 1) {
		const struct counted_range *row = next;

		if (row->occurrence != last.occurrence || row->process != last.process)
			n = 0;
		last = *row;
		if (filter_occurrence_begins(r->filter, row->occurrence, row->process, ++n,
					     row->start_ns, row->end_ns))
			add_range(r, &last,
				  texts_put(r->names,
					    filter_occurrence_text(row->occurrence, text)));
	}
	return rc;
}

static int read_ranges(struct ranges_read *r)
{
	struct gt_range range;
	const struct gt_item *item;
	int rc = gt_cursor_create(r->capture, &r->cursor);

	if (rc)
		return rc;
	gt_cursor_take_marks(r->cursor);
	while ((rc = gt_cursor_next(r->cursor, &item)) == 1) {
		if (item->kind != GT_RECORD_CALL || !gt_mark_of(item->op))
			continue;
		rc = gt_ranges_step(&r->ranges, item, &range);
		if (rc < 0)
			break;
		if (rc)
			take_range(r, &range, false);
	}
	while (!rc && gt_ranges_rest(&r->ranges, &range))
		take_range(r, &range, true);
	close_cursor(r);
	return rc < 0 ? rc : 0;
}

static void fini_reading(void *data)
{
	struct ranges_read *r = data;

	gt_cursor_destroy(r->cursor);
	gt_ranges_fini(&r->ranges);
	sorter_fini(&r->counted);
	free(r->named);
	free(r->asked);
	free(r->timed);
}

int range_paths_read(struct range_paths *e, struct texts *names, struct filter *f,
		     const struct gt_capture *capture)
{
	struct ranges_read r = {.range_paths = e,
				.names = names,
				.filter = f,
				.capture = capture,
				.counted = {.row_bytes = sizeof(struct counted_range),
					    .compare = compare_counted}};
	struct cleanup cleanup;
	int rc;

	cleanup_push(&cleanup, fini_reading, &r);
	rc = read_ranges(&r);
	if (!rc)
		rc = count_ranges(&r);
	if (!rc && r.timed_count)
		rc = end_timed(&r);
	cleanup_pop(&cleanup);
	return rc < 0 ? rc : range_paths_finish(e);
}
