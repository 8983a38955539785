/* SPDX-License-Identifier: MIT */
/* See hsa_slots.h. */
#include "runtime/hsa/hsa_slots.h"

#include <sched.h>

#define HARVEST_WAIT_NS (1000 * GT_HSA_MS)

enum { HELPER_TRIES = 500, SIGNALS_AT_ONCE = 512 };

/* Return a free slot, preferably one used before, which is in the cache. Return NULL if none is
 * free. */
static struct gt_hsa_slot *find_free_slot(struct gt_hsa_slots *s, struct gt_hsa_agent *a)
{
	struct gt_hsa_slot *slot;
	uint32_t fresh;

	if (gt_unlikely(s->freed_taken == s->freed_known))
		s->freed_known = atomic_load_explicit(&s->freed_put, memory_order_acquire);
	slot = gt_hsa_slots_take_used(s);
	if (gt_likely(slot != NULL))
		return slot;
	fresh = atomic_load_explicit(&s->fresh, memory_order_relaxed);
	if (fresh == atomic_load_explicit(&s->armed, memory_order_acquire))
		return NULL;
	atomic_store_explicit(&s->fresh, fresh + 1, memory_order_relaxed);
	if (fresh % SIGNALS_AT_ONCE == SIGNALS_AT_ONCE - 1)
		gt_hsa_wake_helper(a); /* the helper creates new signals */
	return &s->slot[fresh];
}

/* Wait until the harvester, which is late, frees a slot. Return NULL if it frees none in time. */
static struct gt_hsa_slot *wait_for_slot(struct gt_hsa_slots *s, struct gt_hsa_ring *ring,
					 struct gt_hsa_agent *a, uint64_t tail)
{
	uint64_t head = atomic_load_explicit(&s->head, memory_order_acquire),
		 since = gt_hsa_boottime_ns();
	struct gt_hsa_slot *slot;

	if (head == s->stuck_head)
		return NULL;
	gt_hsa_ring_notify(ring);
	for (uint32_t n = 0;; n++) {
		s->known_head = atomic_load_explicit(&s->head, memory_order_acquire);
		if (tail - s->known_head < s->capacity && (slot = find_free_slot(s, a)) != NULL)
			return slot;
		if (n % 16 == 0)
			gt_hsa_wake_helper(a);
		if (gt_hsa_boottime_ns() - since > HARVEST_WAIT_NS) {
			s->stuck_head = head;
			return NULL;
		}
		sched_yield();
	}
}

struct gt_hsa_slot *gt_hsa_slots_take_slowly(struct gt_hsa_slots *s, struct gt_hsa_ring *ring,
					     struct gt_hsa_agent *a)
{
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);
	struct gt_hsa_slot *slot = NULL;

	if (gt_unlikely(tail - s->known_head >= s->capacity / 2)) {
		s->known_head = atomic_load_explicit(&s->head, memory_order_acquire);
		if (tail - s->known_head >= s->capacity / 2 && tail % 256 == 0)
			gt_hsa_wake_helper(a);
	}
	if (gt_likely(tail - s->known_head < s->capacity))
		slot = find_free_slot(s, a);
	return gt_likely(slot != NULL) ? slot : wait_for_slot(s, ring, a, tail);
}

bool gt_hsa_slots_can_take(struct gt_hsa_slots *s)
{
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed);

	if (tail - atomic_load_explicit(&s->head, memory_order_relaxed) < s->capacity &&
	    (s->freed_taken != atomic_load_explicit(&s->freed_put, memory_order_acquire) ||
	     atomic_load_explicit(&s->fresh, memory_order_relaxed) !=
		     atomic_load_explicit(&s->armed, memory_order_acquire))) {
		s->failed_tries = 0;
		return true;
	}
	return s->failed_tries++ >= HELPER_TRIES;
}

/* Reset a slot to its initial state. */
static void reset_slot(struct gt_hsa_slot *slot)
{
	atomic_store_explicit(&slot->ours->value, 1, memory_order_relaxed);
	atomic_store_explicit(&slot->ours->start_ts, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->ours->end_ts, 0, memory_order_relaxed);
	slot->watch.signal = slot->ours;
	atomic_store_explicit(&slot->watch.state, GT_HSA_ACTIVITY_FREE, memory_order_relaxed);
}

void gt_hsa_slots_free_position(struct gt_hsa_slots *s, uint64_t position)
{
	uint32_t *slot = &s->order[position & (s->capacity - 1)];
	uint64_t put = atomic_load_explicit(&s->freed_put, memory_order_relaxed);

	reset_slot(&s->slot[*slot]);
	s->freed[put & (s->capacity - 1)] = *slot;
	*slot = GT_HSA_NO_SLOT;
	atomic_store_explicit(&s->freed_put, put + 1, memory_order_release);
}

const struct gt_hsa_activity *gt_hsa_slots_find_packet(const struct gt_hsa_slots *s,
						       uint32_t packet)
{
	uint64_t tail = atomic_load_explicit(&s->tail, memory_order_acquire);

	for (uint64_t i = atomic_load_explicit(&s->head, memory_order_acquire); i < tail; i++) {
		const struct gt_hsa_slot *slot = gt_hsa_slots_at(s, i);

		if (slot && __atomic_load_n(&slot->activity.packet, __ATOMIC_RELAXED) == packet)
			return &slot->activity;
	}
	return NULL;
}
