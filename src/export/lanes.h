/* SPDX-License-Identifier: MIT */
/* Which row of a queue a piece of work is drawn in, so that no two of a row overlap.
 *
 * Work comes in any order: several threads feed a queue, and the capture has one thread's part after the
 * other's. A lane keeps the intervals that it holds, sorted, in a gap buffer (neighbours come one after the
 * other, so insertions are near the last one). At GT_LANE_INTERVALS the older half is forgotten and everything
 * before its end counts as taken: memory is bounded, the answer stays right, and only work that comes that
 * late may get a lane more than it needs. */
#ifndef GPUTAP_EXPORT_LANES_H
#define GPUTAP_EXPORT_LANES_H

#include <stddef.h>
#include <stdint.h>

enum { GT_LANE_INTERVALS = 1 << 18 }; /* 4 MiB a lane, when it is that long */

struct gt_lane;

struct gt_lanes {
	struct gt_lane **lanes;
	unsigned count;
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
