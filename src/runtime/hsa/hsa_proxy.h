/* SPDX-License-Identifier: MIT */
/* The queue that the program gets: a proxy for a queue of the runtime (hsa_proxy.c). */
#ifndef GPUTAP_RUNTIME_HSA_PROXY_H
#define GPUTAP_RUNTIME_HSA_PROXY_H

#include "runtime/hsa/hsa_queue.h"

/* Create a proxy with @size packets for @real, which is not in use yet. Return false if out of
 * memory. */
bool gt_hsa_proxy_make(struct gt_hsa_queue *q, void *real, uint32_t size);
void gt_hsa_proxy_free(struct gt_hsa_queue *q);
/* Publish the proxy's doorbell, so that it can be found. */
void gt_hsa_proxy_publish(struct gt_hsa_queue *q);
/* Check whether the device rang the doorbell, and whether packets are left to be handled. Return
 * true if any are left. Runs in the helper. */
bool gt_hsa_proxy_look(struct gt_hsa_queue *q);

/* Adopts a queue that is not followed yet. Returns NULL if that is not possible. */
typedef struct gt_hsa_queue *gt_hsa_adopt_fn(struct gt_hsa_runtime *r, void *queue);
/* Called before the write index of an unknown queue is used; NULL: no queues are adopted. */
extern _Atomic(gt_hsa_adopt_fn *) gt_hsa_adopt_queue __attribute__((visibility("hidden")));

#endif
