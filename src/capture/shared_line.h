/* SPDX-License-Identifier: MIT */
/* The clock of one host relative to another one, from calls that processes of both made together.
 *
 * No process returns from a barrier before the last one has called it. So for each such call
 *   - the first return here was not before the last call there,
 *   - the last call here was not after the first return there:
 * two bounds for the offset between the clocks, as far apart as the time that all were in the call.
 * From all calls together clock/clockbounds.h makes lines within the bounds. If one host's
 * processes are always last, the bounds are as far apart as the others wait for it: then the clocks
 * are placed so that the first returns on both hosts were at the same time, as far as the bounds
 * allow. The bounds still give the uncertainty. */
#ifndef GPUTAP_CAPTURE_SHARED_LINE_H
#define GPUTAP_CAPTURE_SHARED_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clockbounds.h"

/* When the processes of a host were in one call. */
struct gt_shared_stay {
	uint64_t last_begin_ns, first_end_ns;
	bool any;
};

/* Zero-initialised: empty. */
struct gt_shared_calls {
	struct gt_clock_bounds bounds;
	struct gt_shared_return *returns; /* the first returns from each call on both hosts */
	size_t count, room;
};

/* @there: on the clock that is to be converted, @here: on the other one */
void gt_shared_calls_add(struct gt_shared_calls *s, const struct gt_shared_stay *there,
			 const struct gt_shared_stay *here);
/**
 * gt_shared_calls_fit() - fit lines from the clock there to the one here
 * @lines:       initialised when 0 is returned; gt_clock_lines_fini()
 * @residual_ns: largest distance from these to other lines within the bounds
 * Return: 0; -ENODATA: no shared calls; -ERANGE: no lines keep nearly all bounds; -ENOMEM.
 */
int gt_shared_calls_fit(struct gt_shared_calls *s, struct gt_clock_lines *lines,
			uint64_t *residual_ns);
void gt_shared_calls_fini(struct gt_shared_calls *s);

#endif
