/* SPDX-License-Identifier: MIT */
/* See rowmap.h. */
#include "analysis/base/rowmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

enum { RUN_GAP = 64 }; /* maximum number of missing calls within a run */

unsigned gt_rowmap_flags(const struct gt_rowmap *map, int64_t row)
{
	return (size_t)row / 2 < map->flags_bytes ? map->flags[row / 2] >> (row % 2 * 4) & 15u : 0;
}

int gt_rowmap_set(struct gt_rowmap *map, int64_t row, unsigned flags)
{
	size_t byte = (size_t)row / 2;

	if (byte >= map->flags_bytes) {
		size_t bigger = byte + byte / 2 + 4096;
		uint8_t *moved = realloc(map->flags, bigger);

		if (!moved)
			return -ENOMEM;
		memset(moved + map->flags_bytes, 0, bigger - map->flags_bytes);
		map->flags = moved;
		map->flags_bytes = bigger;
	}
	map->flags[byte] |= (uint8_t)(flags << (row % 2 * 4));
	return 0;
}

int64_t gt_rowmap_take(struct gt_rowmap *map, const struct gt_item *call)
{
	struct gt_row_run *run = map->run_count ? &map->runs[map->run_count - 1] : NULL;
	uint64_t seq = GT_ID_SEQ(call->id);

	if (!run || run->process != call->process || run->ordinal != call->ordinal ||
	    seq < run->seq + run->span || seq - (run->seq + run->span) > RUN_GAP ||
	    map->next_row != run->row + (int64_t)run->span) {
		run = gt_grow(map->runs, map->run_count, &map->run_capacity, sizeof *run);
		if (!run)
			return 0;
		map->runs = run;
		run = &map->runs[map->run_count++];
		*run = (struct gt_row_run){call->process, call->ordinal, seq, 0, map->next_row};
	}
	run->span = seq - run->seq + 1;
	map->next_row = run->row + (int64_t)run->span;
	return map->next_row - 1;
}

static int compare_runs(const void *a, const void *b)
{
	const struct gt_row_run *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->ordinal != y->ordinal)
		return x->ordinal < y->ordinal ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void gt_rowmap_settle(struct gt_rowmap *map)
{
	if (map->run_count)
		qsort(map->runs, map->run_count, sizeof *map->runs, compare_runs);
}

int64_t gt_rowmap_find(struct gt_rowmap *map, uint32_t process, uint64_t id)
{
	struct gt_row_run key = {process, GT_ID_ORDINAL(id), GT_ID_SEQ(id), 0, 0};
	size_t low = 0, high = map->run_count;
	const struct gt_row_run *run;
	int64_t row;

	if (map->last_run < map->run_count && compare_runs(&map->runs[map->last_run], &key) <= 0 &&
	    (map->last_run + 1 == map->run_count ||
	     compare_runs(&key, &map->runs[map->last_run + 1]) < 0)) {
		low = map->last_run + 1;
		high = low;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_runs(&map->runs[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	map->last_run = --low;
	run = &map->runs[low];
	if (run->process != process || run->ordinal != key.ordinal ||
	    key.seq - run->seq >= run->span)
		return 0;
	row = run->row + (int64_t)(key.seq - run->seq);
	return gt_rowmap_flags(map, row) & GT_ROW_THERE ? row : 0;
}

void gt_rowmap_fini(struct gt_rowmap *map)
{
	free(map->runs);
	free(map->flags);
	*map = (struct gt_rowmap){0};
}
