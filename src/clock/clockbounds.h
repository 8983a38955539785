/* SPDX-License-Identifier: MIT */
/* Bounds a device clock from both sides. Some device stamps were certainly taken at or after a host
 * time (a GPU activity is not queued before its call starts), others at or before a host time (the
 * target of a wait has ended when the wait returns). At each time, the offset between the clocks
 * lies between these bounds:
 *
 *   offset    . .    .     .   .     not later than these
 *          -------------------       the result: a line of at most 200 ppm
 *            '  '  '    '     '      not earlier than these
 *
 * Memory is bounded: only bounds that a line can touch are kept (the hull of each part of the time
 * range). */
#ifndef GPUTAP_CLOCK_CLOCKBOUNDS_H
#define GPUTAP_CLOCK_CLOCKBOUNDS_H

#include "clock/line.h"

/* One bound, relative to the first bound added. */
struct gt_clock_bound {
	int64_t device, offset; /* offset: host - device */
};

struct gt_clock_bound_list {
	struct gt_clock_bound *list; /* sorted by thinning and fitting */
	size_t count, room;
	uint64_t added;
};

/* Initialise with zeros for an empty object. */
struct gt_clock_bounds {
	struct gt_clock_bound_list sides[GT_CLOCK_SIDE_COUNT];
	uint64_t device, host_ns; /* device and host time of the first bound */
	bool any, left_out;       /* left_out: true if bounds were left out */
};

void gt_clock_bounds_fini(struct gt_clock_bounds *b);
/* Add a bound. If out of memory, leave out the bound: the result is then less precise, but not
 * wrong. */
void gt_clock_bounds_add(struct gt_clock_bounds *b, enum gt_clock_side side, uint64_t device,
			 uint64_t host_ns);

/**
 * gt_clock_bounds_fit() - find lines that keep the bounds
 * @lines:      initialised on success; release with gt_clock_lines_fini()
 * @residual_ns: largest distance from these lines to another line that keeps the bounds
 * Return: 0; -ENODATA: a side has no bounds; -ERANGE: no lines keep nearly all bounds; -ENOMEM.
 * The result is one line if one line keeps the bounds, else up to 64 consecutive lines, else the
 * line that the fewest bounds contradict.
 */
int gt_clock_bounds_fit(struct gt_clock_bounds *b, struct gt_clock_lines *lines,
			uint64_t *residual_ns);
/* Return the largest bound violation of the lines in ns. */
uint64_t gt_clock_bounds_worst_ns(const struct gt_clock_bounds *b,
				  const struct gt_clock_lines *lines);

#endif
