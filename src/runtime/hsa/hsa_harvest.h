/* SPDX-License-Identifier: MIT */
/* Finds and records completed GPU activities (hsa_harvest.c). */
#ifndef GPUTAP_RUNTIME_HSA_HARVEST_H
#define GPUTAP_RUNTIME_HSA_HARVEST_H

#include "runtime/hsa/hsa_queue.h"

/* True if the process is exiting or the runtime is about to be unloaded. The runtime must then not
 * be called any more. */
extern _Atomic uint32_t gt_hsa_harvest_over __attribute__((visibility("hidden")));

/* Harvest the completed activities of an agent in the helper, including activities of queues that
 * the program has destroyed. Adds to *done. Return the number of activities in flight. */
uint32_t gt_hsa_harvest_agent(struct gt_hsa_agent *a, struct gt_thread *t, uint32_t *done);
/* Harvest the completed activities of all agents, in a thread other than a helper. */
void gt_hsa_harvest_all(void);
/* Count the unfinished activities of a queue that the program has destroyed. Such activities will
 * never complete. */
void gt_hsa_harvest_end_queue(struct gt_hsa_queue *q, struct gt_thread *t);

#endif
