/* SPDX-License-Identifier: MIT */
/* Matches the processes' parts of each collective call of a communicator. All processes make these
 * calls in the same order. If all calls since the communicator's creation are recorded, calls are
 * matched by number. If a process lacks its first calls (windows, a flight recorder, a time range),
 * or calls in between, numbers would match wrong calls. Then times decide, on one clock:
 *
 *     rank 0   [ allreduce ]   [ allreduce      ]  [ allreduce ]
 *     rank 1        (paused)        [ allreduce ]    [ allreduce ]
 *                                   `-- the same
 *
 * No process returns from a collective call before the last process has started it, so there is a
 * moment at which all processes are in the call.
 *
 * Matching starts at calls that overlap and are the same operation, if the calls after them match
 * as well. If several such starts are possible, or the clocks are not accurate enough, nothing is
 * matched. Matches by number are verified in the same way. */
#ifndef GPUTAP_CAPTURE_COLLECTIVE_MATCH_H
#define GPUTAP_CAPTURE_COLLECTIVE_MATCH_H

#include "capture/collectives.h"

/* Value of tolerance_ns if the clocks of the members do not agree well enough to match by time. */
#define GT_COLLECTIVE_NO_CLOCK UINT64_MAX

struct gt_collective_match {
	const struct gt_collective_member *members; /* members of one communicator */
	size_t count;
	uint64_t tolerance_ns; /* tolerance of the clocks, or GT_COLLECTIVE_NO_CLOCK */
	size_t *at;            /* for each member: index of its part of this call */
	size_t matched;        /* number of calls matched so far */
	bool is_in_step, is_begun;
	bool is_unsure; /* at the end: true if matching stopped because of an ambiguity */
};

/* Start with @count members of one communicator, from @first. Return 0 or -ENOMEM with a cause. */
int gt_collective_match_init(struct gt_collective_match *m, const struct gt_collectives *c,
			     size_t first, size_t count, uint64_t tolerance_ns);
/* Return the maximum offset between the sessions' clocks, or GT_COLLECTIVE_NO_CLOCK. */
uint64_t gt_collective_tolerance_ns(const struct gt_capture *c);
/* Return which kinds of calls of the process can be missing before the recorded calls. */
enum gt_collective_gaps gt_collective_find_gaps(const struct gt_capture *c, uint32_t process);
/* Advance to the next call that all members made. Return false if there is no such call. */
bool gt_collective_match_next(struct gt_collective_match *m);
void gt_collective_match_fini(struct gt_collective_match *m);

#endif
