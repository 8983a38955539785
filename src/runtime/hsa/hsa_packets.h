/* SPDX-License-Identifier: MIT */
/* The loop over the packets that the program has written (hsa_packets.c). */
#ifndef GPUTAP_RUNTIME_HSA_PACKETS_H
#define GPUTAP_RUNTIME_HSA_PACKETS_H

#include "runtime/hsa/hsa_queue.h"

enum {
	GT_HSA_SPINS = 200,         /* before a waiting thread yields its processor */
	GT_HSA_PACKETS_AT_ONCE = 16 /* handed over in one ring of the doorbell, at most */
};

/* Hand packets written so far to the device. @index: value that the doorbell was rung with. @wait:
 * for room and for other threads; if false, the helper does the rest. @how: result of the caller's
 * attempt to enter the ring. */
void gt_hsa_handle_written(struct gt_hsa_queue *q, uint64_t index, bool wait,
			   enum gt_hsa_ring_entry how);

/* Enter the ring in which another thread is at work. Return BUSY if that takes so long that the
 * packets are left to the helper. */
enum gt_hsa_ring_entry gt_hsa_wait_to_enter(struct gt_hsa_queue *q);

/* Let a packet continue if a tool's function has not returned for long. Runs in the helper. */
void gt_hsa_check_callback(struct gt_hsa_queue *q);

#endif
