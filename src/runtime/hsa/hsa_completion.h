/* SPDX-License-Identifier: MIT */
/* Detects the completion of a packet, and hands the packet to the device. Runs in the ring's
 * worker. */
#ifndef GPUTAP_RUNTIME_HSA_COMPLETION_H
#define GPUTAP_RUNTIME_HSA_COMPLETION_H

#include "runtime/hsa/hsa_queue.h"

enum gt_hsa_completion {
	/* detected by gputap's signal, or by the program's signal, which is watched */
	GT_HSA_BY_ITS_SIGNAL,
	/* detected by gputap's signal; a barrier packet after the packet completes the program's
	 * signal */
	GT_HSA_BY_OURS_AND_BARRIER,
	GT_HSA_UNKNOWN, /* not detected: the program's signal cannot be watched */
};

/* Hand a packet to the device. The slot's activity must be filled in, and the packet's copy @p in
 * the device's ring must have its final signal. */
static inline GT_IN_LINE void gt_hsa_hand_on(struct gt_hsa_queue *q, struct gt_hsa_slot *slot,
					     union gt_hsa_packet *p,
					     const union gt_hsa_packet *from,
					     enum gt_hsa_completion how)
{
	__atomic_store_n(&slot->activity.packet, (uint32_t)(q->ring.last - 1), __ATOMIC_RELAXED);
	gt_hsa_slots_submit(&q->slots, slot,
			    how == GT_HSA_UNKNOWN ? GT_HSA_ACTIVITY_LOST : GT_HSA_ACTIVITY_PENDING);
	gt_hsa_wake_long_sleeper(q->agent);
	gt_hsa_ring_hand_on(&q->ring, p, from, how == GT_HSA_BY_OURS_AND_BARRIER);
	gt_hsa_slots_fetch_next(&q->slots);
}

/* Hand a packet that has a signal of the program to the device. */
void gt_hsa_hand_on_with_signal(struct gt_hsa_queue *q, struct gt_hsa_slot *slot,
				const union gt_hsa_packet *from);

/* Hand a packet whose activity is filled in to the device, with a signal for its completion. */
static inline GT_IN_LINE void gt_hsa_hand_on_followed(struct gt_hsa_queue *q,
						      struct gt_hsa_slot *slot,
						      const union gt_hsa_packet *from)
{
	union gt_hsa_packet *p;

	if (gt_unlikely(from->barrier.completion_signal)) {
		gt_hsa_hand_on_with_signal(q, slot, from);
		return;
	}
	slot->watch.signal = slot->ours;
	p = gt_hsa_ring_copy(&q->ring, from);
	p->barrier.completion_signal = (uintptr_t)slot->ours;
	gt_hsa_hand_on(q, slot, p, from, GT_HSA_BY_ITS_SIGNAL);
}

/* Hand a packet to the device unchanged. */
static inline GT_IN_LINE void gt_hsa_hand_on_unfollowed(struct gt_hsa_queue *q,
							const union gt_hsa_packet *from)
{
	uint64_t signal = from->barrier.completion_signal;

	if (gt_unlikely(signal))
		gt_hsa_signal_release(signal);
	gt_hsa_ring_pass(&q->ring, 1);
}

#endif
