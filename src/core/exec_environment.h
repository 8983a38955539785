/* SPDX-License-Identifier: MIT */
/* The environment that a program gets when one that is traced executes it. */
#ifndef GPUTAP_CORE_EXEC_ENVIRONMENT_H
#define GPUTAP_CORE_EXEC_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/exec_lost.h"

enum { GT_EXEC_AREA_BYTES = 384 << 10 };

struct gt_exec {
	/* what to pass on: the caller's own, or one with what the session needs */
	char *const *environment;
	void *area;   /* where it lies; NULL: nowhere */
	bool is_lent; /* of the thread's; else mapped for this one time */
	/* place in the segment that says that the program is out of reach, or GT_LOST_NOWHERE */
	uint32_t lost;
};

/* With the process's first environment. */
void gt_exec_remember(void);
/* Tell the programs that this one executes that a filter is there: core/seccomp.h. */
void gt_exec_remember_filter(void);

/**
 * gt_exec_begin() - make the environment for a program; write an event if it cannot be traced
 * @path:        of the program; NULL: @fd is the program. Looked for along PATH if @is_searched
 *               and without a slash
 * @environment: that the caller wants to pass on
 * Call gt_exec_end() if exec has come back. Thread: any. Signal: safe; also in the child of a
 * vfork. Needs 2 KiB of stack.
 */
void gt_exec_begin(struct gt_exec *e, int fd, const char *path, bool is_searched,
		   char *const *environment);
void gt_exec_end(struct gt_exec *e);

/**
 * gt_exec_look_for_libc() - write an event, or a place in the segment, if a program cannot be
 * traced that libc executes by itself, with the environment of this process
 * Return: for gt_exec_take_back(), if it was not begun after all. Thread: any. Signal: safe.
 */
uint32_t gt_exec_look_for_libc(const char *path);

#endif
