/* SPDX-License-Identifier: MIT */
/* The environment passed to a program that a traced program executes. */
#ifndef GPUTAP_CORE_EXEC_ENVIRONMENT_H
#define GPUTAP_CORE_EXEC_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/exec_lost.h"

enum { GT_EXEC_AREA_BYTES = 384 << 10 };

struct gt_exec {
	/* environment to pass on: the caller's own, or a copy with the session's variables added */
	char *const *environment;
	void *area; /* memory that contains `environment`; NULL: none */
	/* true if this is the thread's area; false if the area was mapped for this call only */
	bool is_lent;
	/* index of the segment's entry for a program that cannot be traced; GT_LOST_NOWHERE: no
	 * entry */
	uint32_t lost;
};

/* Save gputap's parts of the process's initial environment. */
void gt_exec_remember(void);
/**
 * gt_exec_remember_late() - take gputap's parts from the session's folder, in a process that gputap
 * was attached to
 * Return: false if the session does not follow programs that the process executes.
 * Thread: one at a time (runtime/late_attach.c). An exec() in another thread may meanwhile pass on
 *         only a part of the variables.
 */
bool gt_exec_remember_late(const char *directory);
/* Add nothing to the environment of programs executed from now on. */
void gt_exec_forget(void);
/* A function of libc that executes programs, and gputap's function in front of it (core/exec.c). */
struct gt_exec_function {
	const char *name;
	void *real, *ours;
};
enum { GT_EXEC_FUNCTIONS = 13 };
/* Write the functions that libc has. Return their number. Thread: any, not in a signal handler. */
size_t gt_exec_functions(struct gt_exec_function out[GT_EXEC_FUNCTIONS]);

/* Announce to programs executed from now on that a seccomp filter is installed (core/seccomp.h). */
void gt_exec_remember_filter(void);

/**
 * gt_exec_begin() - prepare the environment for a program; write an event if the program cannot be
 * traced
 * @path:        path of the program; NULL: @fd is the program. Searched along PATH if @is_searched
 *               is true and @path contains no slash
 * @environment: environment that the caller wants to pass on
 * Call gt_exec_end() if exec returns. Thread: any. Signal: safe; also in the child of a vfork.
 * Needs 2 KiB of stack.
 */
void gt_exec_begin(struct gt_exec *e, int fd, const char *path, bool is_searched,
		   char *const *environment);
void gt_exec_end(struct gt_exec *e);

/**
 * gt_exec_look_for_libc() - check a program that libc itself executes with this process's
 * environment; write an event, or an entry in the segment, if the program cannot be traced
 * Return: the argument for gt_exec_take_back() if the program was not started after all.
 * Thread: any. Signal: safe.
 */
uint32_t gt_exec_look_for_libc(const char *path);

#endif
