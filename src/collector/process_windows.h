/* SPDX-License-Identifier: MIT */
/* When a process was recorded: its segment says each pause and resume (ring/segment.h), and the
 * capture gets a record of each. */
#ifndef GPUTAP_COLLECTOR_PROCESS_WINDOWS_H
#define GPUTAP_COLLECTOR_PROCESS_WINDOWS_H

#include "collector/drain_state.h"

/* What is new in the segment, into the capture. */
void gt_process_write_windows(struct gt_drain *d, struct gt_process *process);

/* What its ranges have come to, into d->ranges: once, at its end or the session's. */
void gt_process_sum_ranges(struct gt_drain *d, const struct gt_process *process);

#endif
