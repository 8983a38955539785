/* SPDX-License-Identifier: MIT */
/* A device clock bounded from both sides. Some device stamps are known to have been taken at a host
 * time or later (a GPU activity is not queued before its call starts), others at a host time or
 * earlier (a wait's target has ended when the wait returns). The offset between the clocks lies in
 * between, at each time:
 *
 *   offset    . .    .     .   .     not later than these
 *          -------------------       the result: a line of at most 200 ppm
 *            '  '  '    '     '      not earlier than these
 *
 * Memory is bounded: of many bounds, only those that a line can touch are kept (the hull of each
 * part of the time). */
#ifndef GPUTAP_CLOCK_CLOCKBOUNDS_H
#define GPUTAP_CLOCK_CLOCKBOUNDS_H

#include "clock/line.h"

/* One bound, relative to the first one added. */
struct gt_clock_bound {
	int64_t device, offset; /* offset: host - device */
};

struct gt_clock_bound_list {
	struct gt_clock_bound *list; /* sorted when it is thinned or fitted */
	size_t count, room;
	uint64_t added;
};

/* Empty when zero-initialised. */
struct gt_clock_bounds {
	struct gt_clock_bound_list sides[GT_CLOCK_SIDE_COUNT];
	uint64_t device, host_ns; /* device and host time of the first bound */
	bool any, left_out;       /* left_out: true if some bounds fit no line */
};

void gt_clock_bounds_fini(struct gt_clock_bounds *b);
/* Add a bound. If memory is short, it is left out: the result is less precise, not wrong. */
void gt_clock_bounds_add(struct gt_clock_bounds *b, enum gt_clock_side side, uint64_t device,
			 uint64_t host_ns);

/**
 * gt_clock_bounds_fit() - find lines that keep the bounds
 * @lines:      initialised when 0 is returned; release with gt_clock_lines_fini()
 * @residual_ns: largest distance from these lines to another line that keeps the bounds
 * Return: 0; -ENODATA: a side has no bounds; -ERANGE: no lines keep nearly all of them; -ENOMEM.
 * The result is one line if one keeps the bounds, else up to 64 consecutive ones, else the one that
 * few bounds contradict.
 */
int gt_clock_bounds_fit(struct gt_clock_bounds *b, struct gt_clock_lines *lines,
			uint64_t *residual_ns);
/* Return the lines' largest violation of a bound, in ns. */
uint64_t gt_clock_bounds_worst_ns(const struct gt_clock_bounds *b,
				  const struct gt_clock_lines *lines);

#endif
