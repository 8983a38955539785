/* SPDX-License-Identifier: MIT */
/* A device clock from both sides: of some device stamps it is known that they were taken at a host
 * time or later (work is not queued before its call begins), of others that they were taken at a
 * host time or earlier (what a wait has returned for has ended). The offset between the clocks lies
 * in between, at each time:
 *
 *   offset    . .    .     .   .     not later than these
 *          -------------------       a line of at most 200 ppm: what comes out
 *            '  '  '    '     '      not earlier than these
 *
 * Memory is bounded: of many bounds only those are kept that a line can touch (the hull of each
 * part of the time). */
#ifndef GPUTAP_CLOCK_CLOCKBOUNDS_H
#define GPUTAP_CLOCK_CLOCKBOUNDS_H

#include "clock/line.h"

/* One bound, relative to the first one that was added. */
struct gt_clock_bound {
	int64_t device, offset; /* offset: host - device */
};

struct gt_clock_bound_list {
	struct gt_clock_bound *list; /* sorted when it is thinned or fitted */
	size_t count, room;
	uint64_t added;
};

/* Zero-initialised is empty. */
struct gt_clock_bounds {
	struct gt_clock_bound_list sides[GT_CLOCK_SIDE_COUNT];
	uint64_t device, host_ns; /* of the first bound */
	bool any, left_out;       /* left_out: bounds that no line can keep */
};

void gt_clock_bounds_fini(struct gt_clock_bounds *b);
/* Without memory for it a bound is left out: the line is known less well, and not wrong. */
void gt_clock_bounds_add(struct gt_clock_bounds *b, enum gt_clock_side side, uint64_t device,
			 uint64_t host_ns);

/**
 * gt_clock_bounds_fit() - lines that keep the bounds
 * @lines:      initialised when 0 is returned; gt_clock_lines_fini()
 * @residual_ns: the farthest that another line which keeps the bounds lies from these
 * Return: 0; -ENODATA: a side has no bounds; -ERANGE: no lines keep nearly all of them; -ENOMEM.
 * One line if there is one; else up to 64, one behind the other; else the one that few bounds
 * contradict.
 */
int gt_clock_bounds_fit(struct gt_clock_bounds *b, struct gt_clock_lines *lines,
			uint64_t *residual_ns);
/* How far the bound that is kept least well lies on the wrong side of the lines, ns. */
uint64_t gt_clock_bounds_worst_ns(const struct gt_clock_bounds *b,
				  const struct gt_clock_lines *lines);

#endif
