/* SPDX-License-Identifier: MIT */
/* See hsa_completion.h. */
#include "runtime/hsa/hsa_completion.h"

#include <stdio.h>

#include "core/late.h"

/* Report, once for an adopted queue, that an activity's end is not detected. */
static void report_unknown(struct gt_hsa_queue *q)
{
	char text[96];

	if (!q->ring.in_place || q->adopted.names_shared)
		return;
	q->adopted.names_shared = true;
	snprintf(text, sizeof text, "activities on queue %p that share a completion signal",
		 q->handle);
	gt_late_missing(GT_DOMAIN_HSA_CORE, text);
}

/* Choose the signal for a packet that has a signal of the program. */
static enum gt_hsa_completion choose_signal(struct gt_hsa_queue *q, struct gt_hsa_slot *slot,
					    uint64_t *completion)
{
	struct gt_hsa_signal *theirs = (struct gt_hsa_signal *)(uintptr_t)*completion;

	if (gt_hsa_signal_watch(&slot->watch, theirs))
		return GT_HSA_BY_ITS_SIGNAL;
	slot->watch.signal = slot->ours;
	if (gt_unlikely(!gt_hsa_ring_is_large(&q->ring))) {
		report_unknown(q);
		slot->activity.flags |= GT_HSA_ACTIVITY_SHARES;
		return GT_HSA_UNKNOWN;
	}
	*completion = (uintptr_t)slot->ours;
	return GT_HSA_BY_OURS_AND_BARRIER;
}

/* Insert a barrier packet with the program's signal that waits for all packets in the queue. The
 * packet does not depend on gputap's signal, which will be reused soon. */
static void insert_barrier(struct gt_hsa_queue *q, uint16_t header, uint64_t signal)
{
	union gt_hsa_packet p = {
		.barrier = {
			.header = (uint16_t)(GT_HSA_PACKET_BARRIER_AND | GT_HSA_PACKET_BARRIER_BIT |
					     GT_HSA_FENCES(header)),
			.completion_signal = signal,
		}};

	gt_hsa_signal_release(signal);
	gt_hsa_ring_insert(&q->ring, &p);
}

void gt_hsa_hand_on_with_signal(struct gt_hsa_queue *q, struct gt_hsa_slot *slot,
				const union gt_hsa_packet *from)
{
	union gt_hsa_packet *p = gt_hsa_ring_copy(&q->ring, from);
	uint64_t theirs = p->barrier.completion_signal;
	uint16_t header = from->barrier.header;
	enum gt_hsa_completion how = choose_signal(q, slot, &p->barrier.completion_signal);

	gt_hsa_hand_on(q, slot, p, from, how);
	if (gt_unlikely(how == GT_HSA_BY_OURS_AND_BARRIER))
		insert_barrier(q, header, theirs);
}
