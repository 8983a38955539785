/* SPDX-License-Identifier: MIT */
/* Records of followed queues. */
#ifndef GPUTAP_RUNTIME_HSA_QUEUE_CALLS_H
#define GPUTAP_RUNTIME_HSA_QUEUE_CALLS_H

#include "runtime/hsa/hsa_queue.h"

/* Write the queue's record. */
void gt_hsa_queue_describe(const struct gt_hsa_queue *q, struct gt_thread *t);
/* Write the records of a new queue, notify tools, and start the agent's helper. q->type must be
 * set. */
void gt_hsa_queue_announce(struct gt_hsa_queue *q, struct gt_thread *t);

#endif
