/* SPDX-License-Identifier: MIT */
/* Interception before ROCm 6.1 cannot take more packets than the queue has room for: it keeps the first one that does not fit, and
 * when a second one comes it ends the program (where it was built with asserts, as Debian's is) or lets later ones overtake the
 * first. And producers do give it more: it tells them that a packet's place is free as soon as the handler has seen it.
 *
 * So the handler waits where the program would wait without us, for a place in the runtime's queue. How far that has come is not
 * to be seen, but no packet leaves later than one behind it completes: a slot knows how many packets were handed on with its
 * own, so the newest completed one tells. Packets without a slot are followed by a marker now and then.
 *
 * A program that fills a queue to the brim, and only then lets its first packet go, would wait for ever: without any progress
 * for LIMIT_NS the packet goes on, which that one place too many has room for. */
#include <sched.h>

#include "runtime/hsa/hsa_activity.h"

#define LIMIT_NS (1000 * GT_HSA_MS)

enum { FIXED_ENTRIES = 66, /* of AmdExtTable, since the fix */ LOOK = 64, SPIN = 200 };

bool gt_hsa_room_needed(const struct gt_hsa_runtime *r)
{
	const struct gt_hsa_version *v = r->tables ? r->tables->amd_ext : NULL;

	return !v || v->size < sizeof *v + FIXED_ENTRIES * sizeof(void *);
}

/* What the helper knows, and what it has not seen yet. */
static uint64_t passed(const struct gt_hsa_queue *q)
{
	uint64_t known = atomic_load_explicit(&q->passed, memory_order_acquire);
	uint64_t head = atomic_load_explicit(&q->head, memory_order_acquire);
	uint64_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	for (uint64_t i = head; i < tail && i < head + LOOK; i++) {
		const struct gt_hsa_slot *s = gt_hsa_slot(q, i);
		uint32_t state = atomic_load_explicit(&s->watch.state, memory_order_acquire);
		uint64_t with = (uint64_t)s->watch.value;

		/* the helper may free it meanwhile; only we fill it again */
		if (state != GT_HSA_SLOT_PENDING ? state != GT_HSA_SLOT_CLAIMED :
		    !s->watch.entry && atomic_load_explicit(&s->ours->value, memory_order_acquire) < 1)
			known = with > known ? with : known;
	}
	return known;
}

void gt_hsa_room_wait(struct gt_hsa_queue *q)
{
	uint64_t since = 0, last = 0, now;

	for (uint32_t n = 0;; n++) {
		uint64_t known = passed(q);

		if (q->forwarded - known < q->room)
			return;
		if (n < SPIN)
			continue;
		now = gt_hsa_boottime_ns();
		if (!since || known != last) {
			since = now;
			last = known;
		} else if (now - since > LIMIT_NS) {
			return;
		}
		if (n % 16 == 0)
			gt_hsa_helper_hurry(q->agent);
		sched_yield();
	}
}

struct gt_hsa_slot *gt_hsa_room_slot(struct gt_hsa_queue *q)
{
	struct gt_hsa_slot *s = gt_hsa_slot_take(q, 0);
	uint64_t since = s ? 0 : gt_hsa_boottime_ns();

	while (!s && gt_hsa_boottime_ns() - since < LIMIT_NS) {
		gt_hsa_helper_hurry(q->agent);
		sched_yield();
		s = gt_hsa_slot_take(q, 0);
	}
	return s;
}
