/* SPDX-License-Identifier: MIT */
/* The environment passed to a program that a traced program executes. */
#ifndef GPUTAP_CORE_EXEC_ENVIRONMENT_H
#define GPUTAP_CORE_EXEC_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/exec_lost.h"

enum { GT_EXEC_AREA_BYTES = 384 << 10 };

struct gt_exec {
	/* the environment to pass on: the caller's own, or one with what the session needs */
	char *const *environment;
	void *area;   /* memory that contains it; NULL: none */
	bool is_lent; /* the thread's area; else mapped for this one call */
	/* index of the segment's entry for a program that cannot be traced, or GT_LOST_NOWHERE */
	uint32_t lost;
};

/* Remember our parts of the process's first environment. */
void gt_exec_remember(void);
/* Announce to programs executed from here on that a filter is installed: core/seccomp.h. */
void gt_exec_remember_filter(void);

/**
 * gt_exec_begin() - make the environment for a program; write an event if it cannot be traced
 * @path:        path of the program; NULL: @fd is the program. Searched along PATH if @is_searched
 *               and without a slash
 * @environment: that the caller wants to pass on
 * Call gt_exec_end() if exec returns. Thread: any. Signal: safe; also in the child of a vfork.
 * Needs 2 KiB of stack.
 */
void gt_exec_begin(struct gt_exec *e, int fd, const char *path, bool is_searched,
		   char *const *environment);
void gt_exec_end(struct gt_exec *e);

/**
 * gt_exec_look_for_libc() - write an event, or an entry in the segment, if a program cannot be
 * traced that libc itself executes, with the environment of this process
 * Return: the argument for gt_exec_take_back(), if the program was not started after all. Thread:
 * any. Signal: safe.
 */
uint32_t gt_exec_look_for_libc(const char *path);

#endif
