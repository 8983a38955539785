/* SPDX-License-Identifier: MIT */
/* Sums of a process: seen = recorded + dropped, always. The difference is counted as open or
 * damaged; impossible counters are ignored. */
#ifndef GPUTAP_COLLECTOR_PROCESS_COUNTS_H
#define GPUTAP_COLLECTOR_PROCESS_COUNTS_H

#include "collector/drain_state.h"

/* @last: the process is gone, and all of its rings were read. */
void gt_process_sum_counts(struct gt_drain *d, struct gt_process *process, bool last,
			   struct gt_counts *out);

#endif
