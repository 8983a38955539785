/* SPDX-License-Identifier: MIT */
/* See diff_units.h. */
#include "analysis/compare/diff_units.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/ranges.h"

static void add_unit(struct diff_units *u, const struct gt_range *range, const char *pattern)
{
	if (range->instant || !range->begun || range->ended < range->begun)
		return;
	if (strcmp(pattern, range->name) != 0 && fnmatch(pattern, range->name, FNM_NOESCAPE) != 0)
		return;
	GROW_LIST(u->units, u->count, u->room);
	u->units[u->count++] = (struct diff_unit){
		.thread = (uint64_t)range->process << 32 | range->ordinal,
		.first = range->begun,
		.last = range->ended,
	};
}

static int compare_units(const void *a, const void *b)
{
	const struct diff_unit *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->last < y->last) - (x->last > y->last);
}

/* Keep only outermost ranges, because an inner range is a part of the outer one. */
static void keep_outermost(struct diff_units *u)
{
	uint32_t kept = 0;

	if (u->count)
		qsort(u->units, u->count, sizeof *u->units, compare_units);
	for (uint32_t i = 0; i < u->count; i++)
		if (!kept || u->units[kept - 1].thread != u->units[i].thread ||
		    u->units[i].first > u->units[kept - 1].last)
			u->units[kept++] = u->units[i];
	u->count = kept;
}

int diff_units_read(struct diff_units *u, const struct gt_capture *capture, const char *pattern)
{
	struct gt_ranges ranges = {0};
	struct gt_range range;
	const struct gt_item *item;
	struct gt_cursor *cursor;
	int rc = gt_cursor_create(capture, &cursor);

	if (rc)
		return rc;
	/* Include ranges that a cut capture keeps as context. As in the whole capture, a range
	 * without counted records is finally not counted as a unit */
	gt_cursor_take_context(cursor);
	while ((rc = gt_cursor_next(cursor, &item)) == 1) {
		if (item->kind != GT_RECORD_CALL || !gt_mark_of(item->op))
			continue;
		rc = gt_ranges_step(&ranges, item, &range);
		if (rc < 0)
			break;
		if (rc)
			add_unit(u, &range, pattern);
	}
	gt_ranges_fini(&ranges);
	gt_cursor_destroy(cursor);
	keep_outermost(u);
	return rc < 0 ? rc : 0;
}

static bool is_in(const struct diff_unit *unit, uint64_t thread, uint64_t place)
{
	return unit->thread == thread && unit->first <= place && place <= unit->last;
}

uint32_t diff_units_find(struct diff_units *u, uint64_t thread, uint64_t place)
{
	uint32_t low = 0, high = u->count;

	if (u->last < u->count && is_in(&u->units[u->last], thread, place))
		return u->last;
	while (low < high) { /* find the first unit that starts after @place */
		uint32_t middle = low + (high - low) / 2;
		const struct diff_unit *unit = &u->units[middle];

		if (unit->thread < thread || (unit->thread == thread && unit->first <= place))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !is_in(&u->units[low - 1], thread, place))
		return LOOKUP_NONE;
	return u->last = low - 1;
}

void diff_units_fini(struct diff_units *u)
{
	free(u->units);
	*u = (struct diff_units){0};
}
