/* SPDX-License-Identifier: MIT */
/* The stacks of threads without progress, for a snapshot: FRAMES and CODE, and for each thread a
 * row GT_HOST_SAMPLE whose value[3] is 1 (in a call) or 2. Their numbers are not those of
 * --sample-host. */
#ifndef GPUTAP_COLLECTOR_SNAPSHOT_STACKS_H
#define GPUTAP_COLLECTOR_SNAPSHOT_STACKS_H

#include "collector/drain_state.h"

/* Write the stacks of all threads that are in a call, or have made none for a second. Takes half a
 * second at most. */
void gt_snapshot_stacks_write(struct gt_drain *d);

#endif
