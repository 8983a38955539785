/* SPDX-License-Identifier: MIT */
/* Matches the processes' parts of each collective call of a communicator. All processes make its
 * calls in the same order, so if all calls since its creation are recorded, they are matched by
 * number. If the first calls of a process are missing (windows, a flight recorder, a time range),
 * or records between, numbers would match wrong calls. Then times decide, on one clock:
 *
 *     rank 0   [ allreduce ]   [ allreduce      ]  [ allreduce ]
 *     rank 1        (paused)        [ allreduce ]    [ allreduce ]
 *                                   `-- the same
 *
 * No process returns from a call of all before the last one has started it, so at one moment all
 * are in it.
 *
 * Calls are matched from where they overlap and are the same operations, if the calls after them
 * match as well. If there is more than one such place, or the clocks are not good enough, nothing
 * is matched. Matches by number are verified in the same way. */
#ifndef GPUTAP_CAPTURE_COLLECTIVE_MATCH_H
#define GPUTAP_CAPTURE_COLLECTIVE_MATCH_H

#include "capture/collectives.h"

/* The members' clocks do not agree well enough to match by time. */
#define GT_COLLECTIVE_NO_CLOCK UINT64_MAX

struct gt_collective_match {
	const struct gt_collective_member *members; /* members of one communicator */
	size_t count;
	uint64_t tolerance_ns; /* of the clocks, or GT_COLLECTIVE_NO_CLOCK */
	size_t *at;            /* for each member: its part of this call */
	size_t matched;        /* calls matched so far */
	bool is_in_step, is_begun;
	bool is_unsure; /* at the end: matching stopped because it was ambiguous */
};

/* Start with @count members of one communicator, from @first. Return 0 or -ENOMEM with a cause. */
int gt_collective_match_init(struct gt_collective_match *m, const struct gt_collectives *c,
			     size_t first, size_t count, uint64_t tolerance_ns);
/* Return how far clocks of the sessions may be apart, or GT_COLLECTIVE_NO_CLOCK. */
uint64_t gt_collective_tolerance_ns(const struct gt_capture *c);
/* Return whether calls of the process are missing before recorded ones. */
enum gt_collective_gaps gt_collective_find_gaps(const struct gt_capture *c, uint32_t process);
/* Advance to the next call that all members made. Return false if there is none. */
bool gt_collective_match_next(struct gt_collective_match *m);
void gt_collective_match_fini(struct gt_collective_match *m);

#endif
