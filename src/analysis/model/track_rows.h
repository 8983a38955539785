/* SPDX-License-Identifier: MIT */
/* Assigns GPU activities to rows of a queue's track, so that activities of a row do not overlap.
 *
 * Activities come in any order: several threads feed a queue or report its activities, and a cursor
 * returns one thread after the other. A row keeps its intervals sorted in a gap buffer. Neighbours
 * arrive consecutively, so most insertions are near the previous one. All rows of an export share a
 * budget of intervals. A row that exhausts the budget drops its older half, and all time before the
 * end of that half counts as occupied. Memory is bounded and the result stays correct. Only an
 * activity that starts in the dropped time may get an additional row. */
#ifndef GPUTAP_ANALYSIS_MODEL_TRACK_ROWS_H
#define GPUTAP_ANALYSIS_MODEL_TRACK_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_TRACK_ROWS_BUDGET = 8 << 20 }; /* 128 MiB */

struct gt_interval {
	uint64_t start, end;
};

struct gt_track_row {
	uint64_t last_end;  /* end of the latest interval */
	uint64_t forgotten; /* time before which everything counts as occupied */
	size_t count, capacity, gap;
	struct gt_interval *interval;
};

struct gt_track_rows {
	struct gt_track_row **rows;
	unsigned count;
	size_t *budget; /* shared; intervals that may still be allocated; NULL: unlimited */
};

void gt_track_rows_fini(struct gt_track_rows *l);
int gt_track_rows_place_anywhere(struct gt_track_rows *l, uint64_t start, uint64_t end);

/* Append after all intervals of the row if there is room. This is the case for nearly all
 * activities. */
static inline bool gt_track_row_append(struct gt_track_row *row, uint64_t start, uint64_t end)
{
	size_t count = row->count, joined;
	struct gt_interval *last;

	if (start < row->last_end || row->gap != count || count == row->capacity ||
	    start < row->forgotten)
		return false;
	/* Branch-free, because the branch predictor cannot predict whether an activity follows
	 * directly. */
	last = row->interval + count;
	joined = (row->last_end == start) & (count != 0);
	last -= joined;
	*last = (struct gt_interval){joined ? last->start : start, end};
	row->gap = row->count = count + 1 - joined;
	row->last_end = end;
	return true;
}

/**
 * gt_track_rows_place() - find or create a row that is free from @start to @end
 * @end: at or after @start
 *
 * An activity may start exactly where an earlier one of its row ends. An activity must not end
 * exactly where an earlier one starts, because readers sort by time and keep file order for equal
 * times, and would see the later slice begin before this one ends.
 * Return: row from 0, or -ENOMEM.
 */
static inline int gt_track_rows_place(struct gt_track_rows *l, uint64_t start, uint64_t end)
{
	if (__builtin_expect(l->count && gt_track_row_append(l->rows[0], start, end), 1))
		return 0;
	return gt_track_rows_place_anywhere(l, start, end);
}

#endif
