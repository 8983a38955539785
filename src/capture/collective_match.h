/* SPDX-License-Identifier: MIT */
/* Which collective calls of the processes of a communicator are one call. All of them make its
 * calls in the same order, so those that are recorded from the communicator's begin are matched by
 * number. Where the beginning of one is cut off (windows, a flight recorder, a slice), or records
 * are missing in between, that would match wrong ones. There times decide, on one clock:
 *
 *     rank 0   [ allreduce ]   [ allreduce      ]  [ allreduce ]
 *     rank 1        (paused)        [ allreduce ]    [ allreduce ]
 *                                   `-- the same
 *
 * Nobody returns from a call of all before the last one has begun it, so all are in it at one
 * moment.
 *
 * Calls are matched from where they overlap, do the same operations and go on doing so. If there is
 * more than one such place, or the clocks are not good enough, nothing is matched. Calls that are
 * matched by number are looked at in this way, too. */
#ifndef GPUTAP_CAPTURE_COLLECTIVE_MATCH_H
#define GPUTAP_CAPTURE_COLLECTIVE_MATCH_H

#include "capture/collectives.h"

/* Clocks of the members do not agree well enough to tell anything. */
#define GT_COLLECTIVE_NO_CLOCK UINT64_MAX

struct gt_collective_match {
	const struct gt_collective_member *members; /* of one communicator */
	size_t count;
	uint64_t tolerance_ns; /* of their clocks, or GT_COLLECTIVE_NO_CLOCK */
	size_t *at;            /* of each member: its part of this call */
	size_t matched;        /* so far */
	bool is_in_step, is_begun;
	bool is_unsure; /* at the end: it stopped because nobody knows how to go on */
};

/* From member @first on, @count of one communicator. Return: 0 or -ENOMEM with a cause. */
int gt_collective_match_init(struct gt_collective_match *m, const struct gt_collectives *c,
			     size_t first, size_t count, uint64_t tolerance_ns);
/* How far clocks of the capture's sessions may be apart, or GT_COLLECTIVE_NO_CLOCK. */
uint64_t gt_collective_tolerance_ns(const struct gt_capture *c);
/* Calls of the process that are missing before others that are there. */
enum gt_collective_gaps gt_collective_find_gaps(const struct gt_capture *c, uint32_t process);
/* The next call that all made. */
bool gt_collective_match_next(struct gt_collective_match *m);
void gt_collective_match_fini(struct gt_collective_match *m);

#endif
