/* SPDX-License-Identifier: MIT */
/* Commands that libc passes to a shell, in a process that gputap was attached to. */
#ifndef GPUTAP_CORE_EXEC_SHELL_H
#define GPUTAP_CORE_EXEC_SHELL_H

#include <stddef.h>

struct gt_exec_shell {
	const char *command; /* command to pass on: the caller's, or a longer one */
	void *area;          /* memory that contains `command`; NULL: none */
	size_t bytes;
};

/**
 * gt_exec_shell_begin() - let a shell that system() or popen() starts join the session
 * libc starts the shell with the process's own environment, which lacks gputap's variables and must
 * not change, because other threads read it. So the shell sets them and executes itself again:
 *   export NAME='value'; ... exec /bin/sh -c 'COMMAND'
 * Call gt_exec_shell_end() after the shell was started. Thread: any. Signal: safe.
 */
void gt_exec_shell_begin(struct gt_exec_shell *s, const char *command);
void gt_exec_shell_end(struct gt_exec_shell *s);

#endif
