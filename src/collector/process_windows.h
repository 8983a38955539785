/* SPDX-License-Identifier: MIT */
/* Writes to the capture when a process was recorded: the segment lists each pause and resume
 * (ring/segment.h), and each of these becomes a record. */
#ifndef GPUTAP_COLLECTOR_PROCESS_WINDOWS_H
#define GPUTAP_COLLECTOR_PROCESS_WINDOWS_H

#include "collector/drain_state.h"

/* Write new changes in the segment to the capture. */
void gt_process_write_windows(struct gt_drain *d, struct gt_process *process);

/* Add the state of a process's ranges to d->ranges, once, when the process or the session ends. */
void gt_process_sum_ranges(struct gt_drain *d, const struct gt_process *process);

#endif
