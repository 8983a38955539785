/* SPDX-License-Identifier: MIT */
/* Finding and recording completed GPU activities (hsa_harvest.c). */
#ifndef GPUTAP_RUNTIME_HSA_HARVEST_H
#define GPUTAP_RUNTIME_HSA_HARVEST_H

#include "runtime/hsa/hsa_queue.h"

/* 1: the process ends, or the runtime goes away: make no more calls into it. */
extern _Atomic uint32_t gt_hsa_harvest_over __attribute__((visibility("hidden")));

/* Harvest one agent's completed activities, in the helper, including those of queues that the
 * program has destroyed. Adds to *done. Return how many are in flight. */
uint32_t gt_hsa_harvest_agent(struct gt_hsa_agent *a, struct gt_thread *t, uint32_t *done);
/* Harvest everything that has completed, of all agents, in any other thread. */
void gt_hsa_harvest_all(void);
/* Count unfinished activities of a queue that the program has destroyed: they will never
 * complete. */
void gt_hsa_harvest_end_queue(struct gt_hsa_queue *q, struct gt_thread *t);

#endif
