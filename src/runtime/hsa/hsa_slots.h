/* SPDX-License-Identifier: MIT */
/* Work in flight of a queue.
 *
 *   order[position]   the slot of each work item, in the order of submission: [head, tail)
 *                         head ─────────────────────── tail
 *                          ▲ the harvester                ▲ whoever is at work in the ring
 *   slot[]            a slot each, with a signal of its own. There are twice as many as the queue
 *                     has packets, so that what is done and not yet harvested has room, too
 *   freed[]           slots that were used and are free, [taken, put) as a ring
 *
 * A slot is used again as soon as it is free, before one that was never used: new memory for each
 * packet would cost more than all else that is done for it. Signals are made in advance: some
 * when the queue is made, others by the helper when they are about to be needed.
 *
 * Steps:
 *   1. Whoever is at work in the ring takes a slot, fills in its work, and puts its number into
 *      order[tail]; then it stores the state PENDING (release) and `tail` (release).
 *   2. The harvester reads `tail` (acquire) and looks at each slot from `head` on. A slot whose
 *      work is done it records, marks FREE, and puts into freed[]; then it stores `put` (release).
 *   3. When the oldest position is done it stores `head` (release).
 *   4. Whoever takes a slot reads `put` (acquire), so it sees the slot as free. */
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
	uint32_t *order; /* by position; GT_HSA_NO_SLOT: it is done, and recorded */
	uint32_t *freed;
	uint32_t capacity; /* a power of two */
	/* whoever is at work in the ring */
	uint32_t failed_tries; /* of the helper, that found no slot */
	uint64_t known_head;
	uint64_t freed_taken, freed_known;
	uint64_t stuck_head;    /* `head` when it did not move for long */
	_Atomic uint32_t fresh; /* slots below have been used */
	_Atomic uint64_t tail;
	/* the harvester */
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t freed_put;
	_Atomic uint32_t armed; /* the helper: slots below have a signal */
};

/* By position; NULL: its work is done. */
static inline struct gt_hsa_slot *gt_hsa_slots_at(const struct gt_hsa_slots *s, uint64_t position)
{
	uint32_t slot = s->order[position & (s->capacity - 1)];

	return slot == GT_HSA_NO_SLOT ? NULL : &s->slot[slot];
}

/* One that was used before. NULL: none is at hand. */
static inline GT_IN_LINE struct gt_hsa_slot *gt_hsa_slots_take_used(struct gt_hsa_slots *s)
{
	if (gt_unlikely(s->freed_taken == s->freed_known))
		return NULL;
	return &s->slot[s->freed[s->freed_taken++ & (s->capacity - 1)]];
}

/* Is less than half of them in use, as far as is known? */
static inline bool gt_hsa_slots_are_half_free(const struct gt_hsa_slots *s)
{
	return atomic_load_explicit(&s->tail, memory_order_relaxed) - s->known_head <
	       s->capacity / 2;
}

/* Waits for the harvester if no slot is free. NULL: and it does not come. */
struct gt_hsa_slot *gt_hsa_slots_take_slowly(struct gt_hsa_slots *s, struct gt_hsa_ring *ring,
					     struct gt_hsa_agent *a);

/* By whoever is at work in the ring; gt_hsa_slots_submit() has to follow. NULL: none is free. */
static inline GT_IN_LINE struct gt_hsa_slot *gt_hsa_slots_take(struct gt_hsa_slots *s,
							       struct gt_hsa_ring *ring,
							       struct gt_hsa_agent *a)
{
	struct gt_hsa_slot *slot =
		gt_likely(gt_hsa_slots_are_half_free(s)) ? gt_hsa_slots_take_used(s) : NULL;

	return gt_likely(slot != NULL) ? slot : gt_hsa_slots_take_slowly(s, ring, a);
}

/* Step 1, with the work filled in. */
static inline GT_IN_LINE void gt_hsa_slots_submit(struct gt_hsa_slots *s, struct gt_hsa_slot *slot,
						  enum gt_hsa_watch_state state)
{
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);

	s->order[tail & (s->capacity - 1)] = (uint32_t)(slot - s->slot);
	atomic_store_explicit(&slot->watch.state, state, memory_order_release);
	atomic_store_explicit(&s->tail, tail + 1, memory_order_release);
}

/* The slot that comes next into this processor's cache: the harvester had it last. */
static inline GT_IN_LINE void gt_hsa_slots_fetch_next(const struct gt_hsa_slots *s)
{
	char *next = (char *)&s->slot[s->freed[s->freed_taken & (s->capacity - 1)]];

	for (size_t i = 0; i < sizeof(struct gt_hsa_slot); i += 64)
		gt_hsa_fetch(next + i);
}

/* By the helper at work in the ring, which cannot wait for itself: is there a slot? True as well
 * after many tries: there may be no signals to be had. */
bool gt_hsa_slots_can_take(struct gt_hsa_slots *s);

/* Step 2, by the harvester: the work at that position is recorded. */
void gt_hsa_slots_free_position(struct gt_hsa_slots *s, uint64_t position);

/* The work in flight whose packet has that index in the device's ring; NULL: nobody follows it.
 * Any thread, while that packet waits. */
const struct gt_hsa_work *gt_hsa_slots_find_packet(const struct gt_hsa_slots *s, uint32_t packet);

#endif
