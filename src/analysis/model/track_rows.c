/* SPDX-License-Identifier: MIT */
/* Rows of a queue, see track_rows.h.
 *   intervals: | sorted, before the gap | gap: capacity - count free | sorted, after the gap |
 *              0                        gap                          gap + free          capacity
 * The end of the last interval is also stored separately: nearly all activities come in order and
 * are compared only with it. */
#include "analysis/model/track_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

static struct gt_interval *interval_at(struct gt_track_row *row, size_t index)
{
	return &row->interval[index < row->gap ? index : index + (row->capacity - row->count)];
}

static void move_gap(struct gt_track_row *row, size_t to)
{
	size_t free_count = row->capacity - row->count;
	struct gt_interval *base = row->interval;

	if (!row->capacity)
		return;
	if (to < row->gap)
		memmove(base + to + free_count, base + to, (row->gap - to) * sizeof *base);
	else
		memmove(base + row->gap, base + row->gap + free_count,
			(to - row->gap) * sizeof *base);
	row->gap = to;
}

static void forget_half(struct gt_track_row *row)
{
	size_t half = row->count / 2;

	row->forgotten = row->interval[half - 1].end;
	memmove(row->interval, row->interval + half, (row->count - half) * sizeof *row->interval);
	row->count -= half;
	row->gap = row->count;
}

/* Make room for one more interval, and move the gap to the end. */
static int grow_row(struct gt_track_row *row, size_t *budget)
{
	size_t more = row->capacity ? row->capacity : FIRST_CAPACITY;
	struct gt_interval *bigger;

	move_gap(row, row->count);
	if (row->capacity && budget && *budget < more) {
		forget_half(row);
		return 0;
	}
	bigger = realloc(row->interval, (row->capacity + more) * sizeof *bigger);
	if (!bigger)
		return -ENOMEM;
	row->interval = bigger;
	row->capacity += more;
	if (budget)
		*budget -= *budget < more ? *budget : more;
	return 0;
}

/* Return the index of the first interval that starts after @start. */
static size_t upper_bound(struct gt_track_row *row, uint64_t start)
{
	size_t low = 0, high = row->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (interval_at(row, middle)->start > start)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Return 1 if placed, 0 if the row has no room, or -ENOMEM. */
static int place_in_row(struct gt_track_row *row, size_t *budget, uint64_t start, uint64_t end)
{
	size_t index;

	if (start < row->forgotten)
		return 0;
	index = start >= row->last_end ? row->count : upper_bound(row, start);
	if (index > 0 && interval_at(row, index - 1)->end > start)
		return 0;
	if (index < row->count && interval_at(row, index)->start <= end)
		return 0;
	if (end > row->last_end)
		row->last_end = end;
	/* Adjacent intervals become one. */
	if (index > 0 && interval_at(row, index - 1)->end == start) {
		interval_at(row, index - 1)->end = end;
		return 1;
	}
	if (row->count == row->capacity) {
		size_t before = row->count;

		if (grow_row(row, budget))
			return -ENOMEM;
		if (before != row->count) { /* grow_row() dropped the older half */
			if (start < row->forgotten)
				return 0;
			index -= before - row->count;
		}
	}
	if (index != row->gap)
		move_gap(row, index);
	row->interval[row->gap++] = (struct gt_interval){start, end};
	row->count++;
	return 1;
}

static struct gt_track_row *add_row(struct gt_track_rows *l)
{
	struct gt_track_row **more = realloc(l->rows, (l->count + 1) * sizeof *more);

	if (!more)
		return NULL;
	l->rows = more;
	more[l->count] = calloc(1, sizeof **more);
	return more[l->count] ? more[l->count++] : NULL;
}

int gt_track_rows_place_anywhere(struct gt_track_rows *l, uint64_t start, uint64_t end)
{
	struct gt_track_row *row;
	unsigned i;
	int placed;

	for (i = 0; i < l->count; i++) {
		placed = place_in_row(l->rows[i], l->budget, start, end);
		if (placed)
			return placed < 0 ? placed : (int)i;
	}
	row = add_row(l);
	if (!row || place_in_row(row, l->budget, start, end) < 0)
		return -ENOMEM;
	return (int)i;
}

void gt_track_rows_fini(struct gt_track_rows *l)
{
	for (unsigned i = 0; i < l->count; i++) {
		free(l->rows[i]->interval);
		free(l->rows[i]);
	}
	free(l->rows);
	*l = (struct gt_track_rows){0};
}
