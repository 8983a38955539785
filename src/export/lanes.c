/* SPDX-License-Identifier: MIT */
/* Lanes of a queue, see lanes.h.
 *   intervals: | sorted, before the gap | gap: capacity - count free | sorted, behind the gap |
 *              0                        gap                          gap + free           capacity
 * The last interval is also kept outside: nearly all work comes in order and only looks there. */
#include "export/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

static struct gt_interval *at(struct gt_lane *lane, size_t index)
{
	return &lane->interval[index < lane->gap ? index : index + (lane->capacity - lane->count)];
}

static void move_gap(struct gt_lane *lane, size_t to)
{
	size_t free_count = lane->capacity - lane->count;
	struct gt_interval *base = lane->interval;

	if (!lane->capacity)
		return;
	if (to < lane->gap)
		memmove(base + to + free_count, base + to, (lane->gap - to) * sizeof *base);
	else
		memmove(base + lane->gap, base + lane->gap + free_count,
			(to - lane->gap) * sizeof *base);
	lane->gap = to;
}

static void forget_half(struct gt_lane *lane)
{
	size_t half = lane->count / 2;

	lane->forgotten = lane->interval[half - 1].end;
	memmove(lane->interval, lane->interval + half,
		(lane->count - half) * sizeof *lane->interval);
	lane->count -= half;
	lane->gap = lane->count;
}

/* Make room for one more; the gap is at the end then. */
static int grow(struct gt_lane *lane, size_t *budget)
{
	size_t more = lane->capacity ? lane->capacity : FIRST_CAPACITY;
	struct gt_interval *bigger;

	move_gap(lane, lane->count);
	if (lane->capacity && budget && *budget < more) {
		forget_half(lane);
		return 0;
	}
	bigger = realloc(lane->interval, (lane->capacity + more) * sizeof *bigger);
	if (!bigger)
		return -ENOMEM;
	lane->interval = bigger;
	lane->capacity += more;
	if (budget)
		*budget -= *budget < more ? *budget : more;
	return 0;
}

/* Index of the first interval that begins after @start. */
static size_t upper_bound(struct gt_lane *lane, uint64_t start)
{
	size_t low = 0, high = lane->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (at(lane, middle)->start > start)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Return: 1 taken in, 0 no room, -ENOMEM. */
static int lane_place(struct gt_lane *lane, size_t *budget, uint64_t start, uint64_t end)
{
	size_t index;

	if (start < lane->forgotten)
		return 0;
	index = start >= lane->last_end ? lane->count : upper_bound(lane, start);
	if (index > 0 && at(lane, index - 1)->end > start)
		return 0;
	if (index < lane->count && at(lane, index)->start <= end)
		return 0;
	if (end > lane->last_end)
		lane->last_end = end;
	/* back to back: one interval */
	if (index > 0 && at(lane, index - 1)->end == start) {
		at(lane, index - 1)->end = end;
		return 1;
	}
	if (lane->count == lane->capacity) {
		size_t before = lane->count;

		if (grow(lane, budget))
			return -ENOMEM;
		if (before != lane->count) { /* the older half is gone */
			if (start < lane->forgotten)
				return 0;
			index -= before - lane->count;
		}
	}
	if (index != lane->gap)
		move_gap(lane, index);
	lane->interval[lane->gap++] = (struct gt_interval){start, end};
	lane->count++;
	return 1;
}

static struct gt_lane *add_lane(struct gt_lanes *l)
{
	struct gt_lane **more = realloc(l->lanes, (l->count + 1) * sizeof *more);

	if (!more)
		return NULL;
	l->lanes = more;
	more[l->count] = calloc(1, sizeof **more);
	return more[l->count] ? more[l->count++] : NULL;
}

int gt_lanes_place_anywhere(struct gt_lanes *l, uint64_t start, uint64_t end)
{
	struct gt_lane *lane;
	unsigned i;
	int placed;

	for (i = 0; i < l->count; i++) {
		placed = lane_place(l->lanes[i], l->budget, start, end);
		if (placed)
			return placed < 0 ? placed : (int)i;
	}
	lane = add_lane(l);
	if (!lane || lane_place(lane, l->budget, start, end) < 0)
		return -ENOMEM;
	return (int)i;
}

void gt_lanes_fini(struct gt_lanes *l)
{
	for (unsigned i = 0; i < l->count; i++) {
		free(l->lanes[i]->interval);
		free(l->lanes[i]);
	}
	free(l->lanes);
	*l = (struct gt_lanes){0};
}
