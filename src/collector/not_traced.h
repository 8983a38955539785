/* SPDX-License-Identifier: MIT */
/* Programs that could not be traced, into the capture. */
#ifndef GPUTAP_COLLECTOR_NOT_TRACED_H
#define GPUTAP_COLLECTOR_NOT_TRACED_H

#include "collector/drain_state.h"

/* At the end: processes that left word that they could not make a ring file. */
void gt_not_traced_write(struct gt_drain *d);
/* The session's first program cannot be traced: @path, and why not. */
void gt_not_traced_write_obstacle(struct gt_drain *d, uint32_t pid, uint64_t ticks,
				  const char *path, const char *why);
/* At a process's end: what it has reported of such programs. */
void gt_not_traced_write_lost(struct gt_drain *d, struct gt_process *process);

#endif
