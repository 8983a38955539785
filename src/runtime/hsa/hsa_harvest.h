/* SPDX-License-Identifier: MIT */
/* Completed work is found and recorded (hsa_harvest.c). */
#ifndef GPUTAP_RUNTIME_HSA_HARVEST_H
#define GPUTAP_RUNTIME_HSA_HARVEST_H

#include "runtime/hsa/hsa_queue.h"

/* 1: the process ends, or the runtime goes: no call into it any more. */
extern _Atomic uint32_t gt_hsa_harvest_over __attribute__((visibility("hidden")));

/* By the helper: one agent's completed work, of queues that the program has destroyed, too.
 * *done is added to. Return: how much is in flight. */
uint32_t gt_hsa_harvest_agent(struct gt_hsa_agent *a, struct gt_thread *t, uint32_t *done);
/* By any other thread: all that has completed, of all agents. */
void gt_hsa_harvest_all(void);
/* The program has destroyed the queue: what has not completed never will. */
void gt_hsa_harvest_end_queue(struct gt_hsa_queue *q, struct gt_thread *t);

#endif
