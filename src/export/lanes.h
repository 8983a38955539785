/* SPDX-License-Identifier: MIT */
/* Which row of a queue a piece of work is drawn in, so that no two of a row overlap.
 *
 * Work comes in any order: several threads feed a queue or report its work, and a cursor gives one thread after
 * the other. A lane keeps the intervals that it holds, sorted, in a gap buffer (neighbours come one after the
 * other, so insertions are near the last one). All lanes of an export share a budget of intervals. A lane that
 * gets no more forgets its older half, and everything before the end of that counts as taken: memory is bounded,
 * the answer stays right, and only work that comes that late may get a lane more than it needs. */
#ifndef GPUTAP_EXPORT_LANES_H
#define GPUTAP_EXPORT_LANES_H

#include <stddef.h>
#include <stdint.h>

enum { GT_LANES_BUDGET = 8 << 20 }; /* 128 MiB */

struct gt_lane;

struct gt_lanes {
	struct gt_lane **lanes;
	unsigned count;
	size_t *budget; /* intervals that may still be allocated; shared; NULL: no limit */
};

void gt_lanes_fini(struct gt_lanes *l);

/**
 * gt_lanes_place() - find or make a lane that is free from @start to @end
 * @end: not before @start; equal is legal
 *
 * Work that begins just where earlier placed work of its lane ends is let in. Work that ends just where earlier
 * placed work begins is not: readers sort by time and keep the file's order for equal times, so they would
 * see the later slice begin before this one ends.
 * Return: lane from 0, or -ENOMEM.
 */
int gt_lanes_place(struct gt_lanes *l, uint64_t start, uint64_t end);

#endif
