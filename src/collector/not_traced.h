/* SPDX-License-Identifier: MIT */
/* Programs that could not be traced, into the capture. */
#ifndef GPUTAP_COLLECTOR_NOT_TRACED_H
#define GPUTAP_COLLECTOR_NOT_TRACED_H

#include "collector/drain_state.h"

/* At the end: processes that left word that they could not make a segment. */
void gt_not_traced_write(struct gt_drain *d);
/* The session's first program cannot be traced: @path, and why not. */
void gt_not_traced_write_obstacle(struct gt_drain *d, uint32_t pid, uint64_t ticks,
				  const char *path, const char *why);
/* At a process's end: what it has reported of such programs. */
void gt_not_traced_write_lost(struct gt_drain *d, struct gt_process *process);

/* A program was reported, by pid @pid: "PATH: why", or why alone. */
void gt_not_traced_note(struct gt_drain *d, uint32_t pid, const char *text);
/* Has a process reported this one? Then the notice is taken: it is no other's any more.
 * @inner_pid: in its pid namespace; @name: as the kernel has it; @program: path of its file. */
bool gt_not_traced_take_notice(struct gt_drain *d, uint32_t pid, uint32_t inner_pid, uint32_t ppid,
			       const char *name, const char *program);
/* A process that the collector found in /proc. @error: 0 for one that uses no runtime. */
void gt_not_traced_write_found(struct gt_drain *d, uint32_t pid, uint64_t ticks,
			       const char *program, const char *why, int error);

#endif
