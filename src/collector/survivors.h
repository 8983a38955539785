/* SPDX-License-Identifier: MIT */
/* Processes of the tree that are alive when the session's first program has ended, such as daemons
 * and background jobs. A process that has used no runtime yet maps nothing of gputap, so survivors
 * are found through the session's variable in their environment, regardless of their current
 * parent.
 *
 * Only pids above the first program's pid are examined, unless pids may have wrapped, because a
 * machine has thousands of other processes. */
#ifndef GPUTAP_COLLECTOR_SURVIVORS_H
#define GPUTAP_COLLECTOR_SURVIVORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/drain_state.h"

struct gt_survivor {
	uint32_t pid;
	int pidfd;
	char program[256]; /* path, truncated */
};

struct gt_survivors {
	struct gt_survivor *list;
	size_t count, room;
};

/**
 * gt_survivors_find() - find the survivors that are alive now
 * @first: pid of the session's first program; @since_ns: its start time, CLOCK_BOOTTIME
 * Return: true if the result is complete; false if a process is executing a file right now, so that
 *         its environment is not available yet.
 */
bool gt_survivors_find(struct gt_survivors *s, const struct gt_folder *folder, uint32_t first,
		       uint64_t since_ns);
/* Forget survivors that have ended. */
void gt_survivors_look(struct gt_survivors *s);
/* Write to the capture which processes were still running when the session ended, with their names.
 * Call before the ends of the processes are written. */
void gt_survivors_write(const struct gt_survivors *s, struct gt_drain *d);
void gt_survivors_fini(struct gt_survivors *s);

#endif
