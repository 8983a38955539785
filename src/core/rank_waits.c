/* SPDX-License-Identifier: MIT */
/* See rank_waits.h. */
#include "core/rank_waits.h"

#include "core/late.h"
#include "core/recording.h"

/* Return the entry of a communicator. @adds: take an entry if the communicator has none. Return
 * NULL without an entry, or if all entries are taken by others. */
static struct gt_communicator *find_communicator(enum gt_domain domain, uint64_t handle, bool adds)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_acquire);
	const uint64_t key = GT_COMMUNICATOR_KEY(domain, handle);
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % GT_COMMUNICATORS;

	for (size_t i = 0; i < GT_COMMUNICATORS; i++, at = (at + 1) % GT_COMMUNICATORS) {
		struct gt_communicator *c = &r->communicators[at];
		uint64_t there = atomic_load_explicit(&c->key, memory_order_relaxed);

		if (!there && !adds)
			return NULL;
		if (!there && atomic_compare_exchange_strong_explicit(&c->key, &there, key,
								      memory_order_relaxed,
								      memory_order_relaxed))
			return c;
		if (there == key) /* found, or another thread has just taken the free entry */
			return c;
	}
	return NULL;
}

/* Return the number of the call. Return 0 if the number is not known, because gputap was attached
 * to the process after the communicator was created. */
static uint64_t count_collective(enum gt_domain domain, uint64_t handle)
{
	struct gt_communicator *c = find_communicator(domain, handle, !gt_is_late());

	return c ? atomic_fetch_add_explicit(&c->count, 1, memory_order_relaxed) + 1 : 0;
}

static void begin_write(struct gt_slot_wait *wait)
{
	atomic_store_explicit(&wait->id, 0, memory_order_relaxed);
	/* a reader that sees one of the stores below also sees the 0 */
	atomic_thread_fence(memory_order_release);
}

static void write_wait(struct gt_slot_wait *wait, uint64_t id, uint64_t communicator,
		       uint64_t sequence, int64_t peer, uint64_t bytes)
{
	begin_write(wait);
	atomic_store_explicit(&wait->communicator, communicator, memory_order_relaxed);
	atomic_store_explicit(&wait->sequence, sequence, memory_order_relaxed);
	atomic_store_explicit(&wait->peer, peer < 0 ? 0 : (uint64_t)peer + 1, memory_order_relaxed);
	atomic_store_explicit(&wait->bytes, bytes, memory_order_relaxed);
	atomic_store_explicit(&wait->id, id, memory_order_release);
}

void gt_waits_collective(struct gt_thread *t, uint64_t id, enum gt_domain domain,
			 uint64_t communicator, int64_t peer, uint64_t bytes)
{
	write_wait(&t->slot->wait, id, communicator, count_collective(domain, communicator), peer,
		   bytes);
}

void gt_waits_message(struct gt_thread *t, uint64_t id, enum gt_domain domain,
		      uint64_t communicator, int64_t peer, uint64_t bytes)
{
	(void)domain;
	write_wait(&t->slot->wait, id, communicator, 0, peer, bytes);
}

void gt_waits_batch(struct gt_thread *t, uint64_t id)
{
	/* the other members stay as the last call of the batch wrote them */
	atomic_store_explicit(&t->slot->wait.id, id, memory_order_release);
}

void gt_waits_created(enum gt_domain domain, uint64_t handle)
{
	struct gt_communicator *c = find_communicator(domain, handle, true);

	if (c)
		atomic_store_explicit(&c->count, 0, memory_order_relaxed);
}
