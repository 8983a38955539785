/* SPDX-License-Identifier: MIT */
/* Writes programs that could not be traced to the capture. */
#ifndef GPUTAP_COLLECTOR_NOT_TRACED_H
#define GPUTAP_COLLECTOR_NOT_TRACED_H

#include "collector/drain_state.h"

/* Write processes that reported that they could not create a segment. Call at the end. */
void gt_not_traced_write(struct gt_drain *d);
/* Write to the capture that the session's first program, @path, cannot be traced, and the
 * reason. */
void gt_not_traced_write_obstacle(struct gt_drain *d, uint32_t pid, uint64_t ticks,
				  const char *path, const char *why);
/* Write the untraced programs that a process has reported. Call at the end of the process. */
void gt_not_traced_write_lost(struct gt_drain *d, struct gt_process *process);

/* Note that a program was reported under pid @pid. @text: "PATH: REASON", or only the reason. */
void gt_not_traced_note(struct gt_drain *d, uint32_t pid, const char *text);
/* Return true if a process has reported this process, and use up that notice. @inner_pid: pid in
 * the process's pid namespace; @name: the kernel's name; @program: path of the executed file. */
bool gt_not_traced_take_notice(struct gt_drain *d, uint32_t pid, uint32_t inner_pid, uint32_t ppid,
			       const char *name, const char *program);
/* Write a process that the collector found in /proc. @error: 0 for a program that uses no
 * runtime. */
void gt_not_traced_write_found(struct gt_drain *d, uint32_t pid, uint64_t ticks,
			       const char *program, const char *why, int error);

#endif
