/* SPDX-License-Identifier: MIT */
/* Writes the description of a process or thread to the capture when the process or thread is first
 * seen, and again when it ends. */
#ifndef GPUTAP_COLLECTOR_ANNOUNCE_H
#define GPUTAP_COLLECTOR_ANNOUNCE_H

#include "collector/drain_state.h"

void gt_announce_process(struct gt_drain *d, struct gt_process *process);
void gt_announce_thread(struct gt_drain *d, struct gt_process *process, uint32_t i);

#endif
