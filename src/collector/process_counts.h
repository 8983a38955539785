/* SPDX-License-Identifier: MIT */
/* Sums of a process: seen = recorded + dropped, always. What is open, or was damaged, makes up the
 * difference; counters that cannot be right are not believed. */
#ifndef GPUTAP_COLLECTOR_PROCESS_COUNTS_H
#define GPUTAP_COLLECTOR_PROCESS_COUNTS_H

#include "collector/drain_state.h"

/* @last: the process is gone, and all of its rings was read. */
void gt_process_sum_counts(struct gt_drain *d, struct gt_process *process, bool last,
			   struct gt_counts *out);

#endif
