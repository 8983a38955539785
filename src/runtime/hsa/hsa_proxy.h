/* SPDX-License-Identifier: MIT */
/* The queue that the program has, in front of the runtime's (hsa_proxy.c). */
#ifndef GPUTAP_RUNTIME_HSA_PROXY_H
#define GPUTAP_RUNTIME_HSA_PROXY_H

#include "runtime/hsa/hsa_queue.h"

/* Of @real, which nobody uses yet, with @size packets. False: no memory. */
bool gt_hsa_proxy_make(struct gt_hsa_queue *q, void *real, uint32_t size);
void gt_hsa_proxy_free(struct gt_hsa_queue *q);
/* Its doorbell is found from now on. */
void gt_hsa_proxy_publish(struct gt_hsa_queue *q);
/* By the helper: has a device rung, or was something left to do? Return: it still is. */
bool gt_hsa_proxy_look(struct gt_hsa_queue *q);

#endif
