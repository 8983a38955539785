/* SPDX-License-Identifier: MIT */
/* The queue that the program has, as a proxy for the runtime's (hsa_proxy.c). */
#ifndef GPUTAP_RUNTIME_HSA_PROXY_H
#define GPUTAP_RUNTIME_HSA_PROXY_H

#include "runtime/hsa/hsa_queue.h"

/* Make a proxy of @real, which is not in use yet, with @size packets. Return false if out of
 * memory. */
bool gt_hsa_proxy_make(struct gt_hsa_queue *q, void *real, uint32_t size);
void gt_hsa_proxy_free(struct gt_hsa_queue *q);
/* Make the proxy's doorbell findable. */
void gt_hsa_proxy_publish(struct gt_hsa_queue *q);
/* Look for a device's ring of the doorbell, and for packets left to do. Return true if any are
 * left. Runs in the helper. */
bool gt_hsa_proxy_look(struct gt_hsa_queue *q);

#endif
