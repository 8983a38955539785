/* SPDX-License-Identifier: MIT */
/* The loop over the packets that the program has written (hsa_packets.c). */
#ifndef GPUTAP_RUNTIME_HSA_PACKETS_H
#define GPUTAP_RUNTIME_HSA_PACKETS_H

#include "runtime/hsa/hsa_queue.h"

enum {
	GT_HSA_SPINS = 200,         /* before a thread that waits gives up its processor */
	GT_HSA_PACKETS_AT_ONCE = 16 /* that one ring of the doorbell hands over, at most */
};

/* What the program has written by now goes to the device. @index: what the doorbell was rung
 * with. @wait: for room and for other threads; else the helper does the rest. @how: the caller
 * has tried to enter the ring. */
void gt_hsa_handle_written(struct gt_hsa_queue *q, uint64_t index, bool wait,
			   enum gt_hsa_ring_entry how);

/* Enter the ring that another thread is at work in. BUSY: it takes so long that the packets are
 * left to the helper. */
enum gt_hsa_ring_entry gt_hsa_wait_to_enter(struct gt_hsa_queue *q);

/* By the helper: has a tool's function not come back for long? Then its packet goes on. */
void gt_hsa_check_callback(struct gt_hsa_queue *q);

#endif
