/* SPDX-License-Identifier: MIT */
/* Activities in flight of a queue.
 *
 *   order[position]   the slot of each activity, in the order of submission: [head, tail)
 *                         head ─────────────────────── tail
 *                          ▲ the harvester                ▲ the thread at work in the ring
 *   slot[]            slots, each with a separate signal. There are twice as many as the queue
 *                     has packets, so that completed, unharvested activities also have room
 *   freed[]           slots that were used and are free, [taken, put) as a ring
 *
 * A free slot is reused before one that was never used: new memory for each packet would cost more
 * than all other handling of the packet. Signals are made in advance: some when the queue is made,
 * others in the helper before they are needed.
 *
 * Steps:
 *   1. The thread at work in the ring takes a slot, fills in its work, and puts its number into
 *      order[tail]; then it stores the state PENDING (release) and `tail` (release).
 *   2. The harvester reads `tail` (acquire) and looks at each slot from `head` on. If a slot's
 *      activity is done, it records it, marks the slot FREE, and puts it into freed[]; then it
 *      stores `put` (release).
 *   3. When the oldest position is done it stores `head` (release).
 *   4. A thread that takes a slot reads `put` (acquire), so it sees the slot as free. */
#ifndef GPUTAP_RUNTIME_HSA_SLOTS_H
#define GPUTAP_RUNTIME_HSA_SLOTS_H

#include "runtime/hsa/hsa_ring.h"
#include "runtime/hsa/hsa_signal.h"
#include "runtime/hsa/hsa_work.h"

struct gt_hsa_slot {
	struct gt_hsa_watch watch;
	struct gt_hsa_signal *ours; /* NULL: not armed yet */
	struct gt_hsa_work work;
};
static_assert(sizeof(struct gt_hsa_slot) == 3 * 64, "three cache lines");

#define GT_HSA_NO_SLOT UINT32_MAX

struct gt_hsa_slots {
	/* constant */
	struct gt_hsa_slot *slot;
	uint32_t *order; /* by position; GT_HSA_NO_SLOT: done and recorded */
	uint32_t *freed;
	uint32_t capacity; /* a power of two */
	/* written in the thread at work in the ring */
	uint32_t failed_tries; /* attempts of the helper that found no slot */
	uint64_t known_head;
	uint64_t freed_taken, freed_known;
	uint64_t stuck_head;    /* `head` when it did not move for long */
	_Atomic uint32_t fresh; /* slots below have been used */
	_Atomic uint64_t tail;
	/* written in the harvester */
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t freed_put;
	_Atomic uint32_t armed; /* written in the helper: slots below have a signal */
};

/* Return the slot at @position, or NULL if its activity is done. */
static inline struct gt_hsa_slot *gt_hsa_slots_at(const struct gt_hsa_slots *s, uint64_t position)
{
	uint32_t slot = s->order[position & (s->capacity - 1)];

	return slot == GT_HSA_NO_SLOT ? NULL : &s->slot[slot];
}

/* Take a slot that was used before. Return NULL if none is known to be free. */
static inline GT_IN_LINE struct gt_hsa_slot *gt_hsa_slots_take_used(struct gt_hsa_slots *s)
{
	if (gt_unlikely(s->freed_taken == s->freed_known))
		return NULL;
	return &s->slot[s->freed[s->freed_taken++ & (s->capacity - 1)]];
}

/* Return true if less than half of the slots are in use, as far as known. */
static inline bool gt_hsa_slots_are_half_free(const struct gt_hsa_slots *s)
{
	return atomic_load_explicit(&s->tail, memory_order_relaxed) - s->known_head <
	       s->capacity / 2;
}

/* Take a slot, waiting for the harvester if none is free. Return NULL if the harvester does not
 * come. */
struct gt_hsa_slot *gt_hsa_slots_take_slowly(struct gt_hsa_slots *s, struct gt_hsa_ring *ring,
					     struct gt_hsa_agent *a);

/* Take a slot, in the thread at work in the ring; gt_hsa_slots_submit() must follow. Return NULL if
 * none is free. */
static inline GT_IN_LINE struct gt_hsa_slot *gt_hsa_slots_take(struct gt_hsa_slots *s,
							       struct gt_hsa_ring *ring,
							       struct gt_hsa_agent *a)
{
	struct gt_hsa_slot *slot =
		gt_likely(gt_hsa_slots_are_half_free(s)) ? gt_hsa_slots_take_used(s) : NULL;

	return gt_likely(slot != NULL) ? slot : gt_hsa_slots_take_slowly(s, ring, a);
}

/* Do step 1, with the work filled in. */
static inline GT_IN_LINE void gt_hsa_slots_submit(struct gt_hsa_slots *s, struct gt_hsa_slot *slot,
						  enum gt_hsa_watch_state state)
{
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);

	s->order[tail & (s->capacity - 1)] = (uint32_t)(slot - s->slot);
	atomic_store_explicit(&slot->watch.state, state, memory_order_release);
	atomic_store_explicit(&s->tail, tail + 1, memory_order_release);
}

/* Prefetch the next slot into this processor's cache: the harvester had it last. */
static inline GT_IN_LINE void gt_hsa_slots_fetch_next(const struct gt_hsa_slots *s)
{
	char *next = (char *)&s->slot[s->freed[s->freed_taken & (s->capacity - 1)]];

	for (size_t i = 0; i < sizeof(struct gt_hsa_slot); i += 64)
		gt_hsa_fetch(next + i);
}

/* Return true if a slot can be taken. For the helper at work in the ring, which cannot wait for
 * itself. Also returns true after many attempts: signals may be unavailable. */
bool gt_hsa_slots_can_take(struct gt_hsa_slots *s);

/* Do step 2, in the harvester: the activity at that position is recorded. */
void gt_hsa_slots_free_position(struct gt_hsa_slots *s, uint64_t position);

/* Return the activity in flight whose packet has that index in the device's ring, or NULL if it is
 * not followed. Any thread, while that packet waits. */
const struct gt_hsa_work *gt_hsa_slots_find_packet(const struct gt_hsa_slots *s, uint32_t packet);

#endif
