/* SPDX-License-Identifier: MIT */
/* Activities in flight of a queue.
 *
 *   order[position]   the slot of each activity, in order of submission: [head, tail)
 *                         head ─────────────────────── tail
 *                          ▲ the harvester                ▲ the ring's worker
 *   slot[]            slots, each with a separate signal: twice as many as the queue has packets,
 *                     to hold completed activities that are not harvested yet
 *   freed[]           free slots that were used before, [taken, put) as a ring
 *
 * A free slot is reused before an unused one: new memory for each packet would cost more than all
 * other handling of the packet. Signals are created in advance: some together with the queue,
 * others in the helper before they are needed.
 *
 * Steps:
 *   1. The ring's worker takes a slot, fills in its activity, and puts the slot's number into
 *      order[tail]. Then it stores the state PENDING (release) and `tail` (release).
 *   2. The harvester reads `tail` (acquire) and checks each slot from `head` on. If a slot's
 *      activity is complete, the harvester records it, marks the slot FREE, and puts the slot into
 *      freed[]. Then it stores `put` (release).
 *   3. When the oldest position is done, the harvester stores `head` (release).
 *   4. A thread that takes a slot reads `put` (acquire), so it sees the slot as free. */
#ifndef GPUTAP_RUNTIME_HSA_SLOTS_H
#define GPUTAP_RUNTIME_HSA_SLOTS_H

#include "runtime/hsa/hsa_ring.h"
#include "runtime/hsa/hsa_signal.h"
#include "runtime/hsa/hsa_activity.h"

struct gt_hsa_slot {
	struct gt_hsa_watch watch;
	struct gt_hsa_signal *ours; /* NULL: no signal yet */
	struct gt_hsa_activity activity;
};
static_assert(sizeof(struct gt_hsa_slot) == 3 * 64, "three cache lines");

#define GT_HSA_NO_SLOT UINT32_MAX

struct gt_hsa_slots {
	/* constant */
	struct gt_hsa_slot *slot;
	uint32_t *order; /* indexed by position; GT_HSA_NO_SLOT: completed and recorded */
	uint32_t *freed;
	uint32_t capacity; /* power of two */
	/* Writer: the ring's worker. */
	uint32_t failed_tries; /* number of the helper's attempts that found no slot */
	uint64_t known_head;
	uint64_t freed_taken, freed_known;
	uint64_t stuck_head;    /* value of `head` at the start of the last wait that timed out */
	_Atomic uint32_t fresh; /* number of the first slot that was never used */
	_Atomic uint64_t tail;
	/* Writer: the harvester. */
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t freed_put;
	_Atomic uint32_t armed; /* number of the first slot without a signal (helper only) */
};

/* Return the slot at @position, or NULL if its activity is complete. */
static inline struct gt_hsa_slot *gt_hsa_slots_at(const struct gt_hsa_slots *s, uint64_t position)
{
	uint32_t slot = s->order[position & (s->capacity - 1)];

	return slot == GT_HSA_NO_SLOT ? NULL : &s->slot[slot];
}

/* Take a slot that was used before. Return NULL if no such slot is known to be free. */
static inline GT_IN_LINE struct gt_hsa_slot *gt_hsa_slots_take_used(struct gt_hsa_slots *s)
{
	if (gt_unlikely(s->freed_taken == s->freed_known))
		return NULL;
	return &s->slot[s->freed[s->freed_taken++ & (s->capacity - 1)]];
}

/* Return true if less than half of the slots are known to be in use. */
static inline bool gt_hsa_slots_are_half_free(const struct gt_hsa_slots *s)
{
	return atomic_load_explicit(&s->tail, memory_order_relaxed) - s->known_head <
	       s->capacity / 2;
}

/* Take a slot; wait for the harvester if none is free. Return NULL if the harvester frees none in
 * time. */
struct gt_hsa_slot *gt_hsa_slots_take_slowly(struct gt_hsa_slots *s, struct gt_hsa_ring *ring,
					     struct gt_hsa_agent *a);

/* Take a slot in the ring's worker, which must then call gt_hsa_slots_submit(). Return NULL if none
 * is free. */
static inline GT_IN_LINE struct gt_hsa_slot *gt_hsa_slots_take(struct gt_hsa_slots *s,
							       struct gt_hsa_ring *ring,
							       struct gt_hsa_agent *a)
{
	struct gt_hsa_slot *slot =
		gt_likely(gt_hsa_slots_are_half_free(s)) ? gt_hsa_slots_take_used(s) : NULL;

	return gt_likely(slot != NULL) ? slot : gt_hsa_slots_take_slowly(s, ring, a);
}

/* Do step 1 for a slot whose activity is filled in. */
static inline GT_IN_LINE void gt_hsa_slots_submit(struct gt_hsa_slots *s, struct gt_hsa_slot *slot,
						  enum gt_hsa_watch_state state)
{
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);

	s->order[tail & (s->capacity - 1)] = (uint32_t)(slot - s->slot);
	atomic_store_explicit(&slot->watch.state, state, memory_order_release);
	atomic_store_explicit(&s->tail, tail + 1, memory_order_release);
}

/* Prefetch the next slot into this processor's cache, because the harvester's processor used it
 * last. */
static inline GT_IN_LINE void gt_hsa_slots_fetch_next(const struct gt_hsa_slots *s)
{
	char *next = (char *)&s->slot[s->freed[s->freed_taken & (s->capacity - 1)]];

	for (size_t i = 0; i < sizeof(struct gt_hsa_slot); i += 64)
		gt_hsa_fetch(next + i);
}

/* Return true if a slot can be taken. Used by the helper when it is the ring's worker, because it
 * cannot wait for itself. Also returns true after many attempts, because signals may be
 * unavailable. */
bool gt_hsa_slots_can_take(struct gt_hsa_slots *s);

/* Do step 2 in the harvester for a recorded activity. */
void gt_hsa_slots_free_position(struct gt_hsa_slots *s, uint64_t position);

/* Return the activity in flight of a packet, or NULL if the packet is not followed. @packet: index
 * in the device's ring. Thread: any, while the packet waits. */
const struct gt_hsa_activity *gt_hsa_slots_find_packet(const struct gt_hsa_slots *s,
						       uint32_t packet);

#endif
