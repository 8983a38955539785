/* SPDX-License-Identifier: MIT */
/* Computes the sums of a process so that always seen = recorded + dropped. Any difference is
 * counted as open or damaged. Impossible counters are ignored. */
#ifndef GPUTAP_COLLECTOR_PROCESS_COUNTS_H
#define GPUTAP_COLLECTOR_PROCESS_COUNTS_H

#include "collector/drain_state.h"

/* @last: true if the process is gone and all of its rings were read. */
void gt_process_sum_counts(struct gt_drain *d, struct gt_process *process, bool last,
			   struct gt_counts *out);

#endif
