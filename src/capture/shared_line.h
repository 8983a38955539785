/* SPDX-License-Identifier: MIT */
/* Fits the clock of one host to that of another one, from calls that processes of both made
 * together.
 *
 * No process returns from a barrier before the last process has called it. So for each such call
 *   - the first return here was not before the last call there,
 *   - the last call here was not after the first return there.
 * These are two bounds for the offset between the clocks. Their distance is the time that all
 * processes spent in the call together. clock/clockbounds.h makes lines within the bounds of all
 * calls. If the processes of one host always call last, the distance between the bounds is the
 * waiting time of the other host. The lines are then chosen so that the first returns on both hosts
 * coincide, as far as the bounds allow. The bounds still give the uncertainty. */
#ifndef GPUTAP_CAPTURE_SHARED_LINE_H
#define GPUTAP_CAPTURE_SHARED_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock/clockbounds.h"

/* Time that the processes of a host spent in one call together. */
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

/* Add a call. @there: the call's times on the clock to convert; @here: its times on the other
 * clock. */
void gt_shared_calls_add(struct gt_shared_calls *s, const struct gt_shared_stay *there,
			 const struct gt_shared_stay *here);
/**
 * gt_shared_calls_fit() - fit lines from the clock there to the clock here
 * @lines:       initialised on success; gt_clock_lines_fini()
 * @residual_ns: largest distance from these lines to other lines within the bounds
 * Return: 0; -ENODATA: no shared calls; -ERANGE: no lines keep nearly all bounds; -ENOMEM.
 */
int gt_shared_calls_fit(struct gt_shared_calls *s, struct gt_clock_lines *lines,
			uint64_t *residual_ns);
void gt_shared_calls_fini(struct gt_shared_calls *s);

#endif
