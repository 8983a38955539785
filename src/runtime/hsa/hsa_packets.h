/* SPDX-License-Identifier: MIT */
/* The loop over the packets that the program wrote (hsa_packets.c). */
#ifndef GPUTAP_RUNTIME_HSA_PACKETS_H
#define GPUTAP_RUNTIME_HSA_PACKETS_H

#include "runtime/hsa/hsa_queue.h"

enum {
	GT_HSA_SPINS = 200, /* spins of a waiting thread before it yields the processor */
	GT_HSA_PACKETS_AT_ONCE =
		16 /* maximum number of packets per ring of the device's doorbell */
};

/* Hand the packets written so far to the device.
 * @index: value with which the doorbell was rung
 * @wait: true to wait for room and for other threads; if false, the helper does the rest
 * @how: result of the caller's attempt to enter the ring */
void gt_hsa_handle_written(struct gt_hsa_queue *q, uint64_t index, bool wait,
			   enum gt_hsa_ring_entry how);

/* Enter a ring that has another worker. Return BUSY if that would take too long; the packets are
 * then left to the helper. */
enum gt_hsa_ring_entry gt_hsa_wait_to_enter(struct gt_hsa_queue *q);

/* Let a packet continue if a tool's function has not returned for a long time. Runs in the
 * helper. */
void gt_hsa_check_callback(struct gt_hsa_queue *q);

#endif
