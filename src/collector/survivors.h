/* SPDX-License-Identifier: MIT */
/* Processes of the tree that live when the session's first program has ended: daemons, jobs in the
 * background. One that has used no runtime yet maps nothing of ours, so they are found by the
 * session's variable in their environment, whoever their parent is by now.
 *
 * Only process numbers after the first program's are looked at, unless numbers can have begun anew:
 * a machine has thousands of other processes. */
#ifndef GPUTAP_COLLECTOR_SURVIVORS_H
#define GPUTAP_COLLECTOR_SURVIVORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/drain_state.h"

struct gt_survivor {
	uint32_t pid;
	int pidfd;
	char program[256]; /* path, cut */
};

struct gt_survivors {
	struct gt_survivor *list;
	size_t count, room;
};

/**
 * gt_survivors_find() - those that live now
 * @first: process number of the session's first program; @since_ns: when it began, CLOCK_BOOTTIME
 * Return: true: all is known. False: one executes a file just now, whose environment is not there
 * yet.
 */
bool gt_survivors_find(struct gt_survivors *s, const struct gt_folder *folder, uint32_t first,
		       uint64_t since_ns);
/* Forget those that have ended. */
void gt_survivors_look(struct gt_survivors *s);
/* They run on when the session ends: into the capture, with their names. Before the ends of the
 * processes are written. */
void gt_survivors_write(const struct gt_survivors *s, struct gt_drain *d);
void gt_survivors_fini(struct gt_survivors *s);

#endif
