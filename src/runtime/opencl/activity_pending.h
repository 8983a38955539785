/* SPDX-License-Identifier: MIT */
/* Activities in flight: a list per queue.
 *
 *        harvested ▼                    ▼ pushed
 *   | chunk ─────────────► chunk ─────────────► chunk |   entries in order of submission
 *     q->head                              q->tail        a drained chunk goes to the spare ones
 *
 * An enqueue, in the program's thread (activity_follow.c):
 *   1. It takes q->push, the lock of the threads that enqueue to this queue.
 *   2. It writes the entry at the tail. A spare chunk is appended to a full one.
 *   3. It stores q->pushed + 1 (release): the entry now belongs to the harvester.
 * The harvest (activity_harvest.c), in one thread at a time, which holds q->harvest:
 *   1. It loads q->pushed (acquire): the entries before that position are complete.
 *   2. It handles the entry at q->harvested.
 *   3. It stores q->harvested + 1 (release), and continues with 2.
 * A chunk becomes a spare one when the harvest has entered the next chunk.
 * Locks, in the order in which they are taken: q->harvest, q->push, that of the spare chunks. After
 * a fork the child's first use of a queue discards the parent's entries (gt_cl_queue_reset()).
 * Never here: calls of the runtime. */
#ifndef GPUTAP_RUNTIME_OPENCL_ACTIVITY_PENDING_H
#define GPUTAP_RUNTIME_OPENCL_ACTIVITY_PENDING_H

#include "runtime/opencl/activity.h"

/* entries: 3.5 KiB; a power of two, because each command divides by it */
enum { GT_CL_CHUNK = 32 };

/* A command in flight. */
struct gt_cl_pending {
	cl_event event; /* gputap holds one reference */
	uint64_t id, call_start;
	/* its number: when this is done, the queue's entry may have been reused for another
	 * queue */
	uint64_t queue;
	uint32_t device; /* GT_DEVICE_REF() */
	uint16_t op;     /* enum gt_device_op */
	bool recorded;   /* else only tools are notified */
	struct gt_cl_what what;
	struct gt_activity *item; /* for tools; NULL: none wants it */
};

struct gt_cl_chunk {
	struct gt_cl_chunk *next;
	struct gt_cl_pending entry[GT_CL_CHUNK];
};

/* Return the number of commands in the list. */
static inline uint64_t gt_cl_queue_count(const struct gt_cl_queue *q)
{
	return atomic_load_explicit(&q->pushed, memory_order_relaxed) -
	       atomic_load_explicit(&q->harvested, memory_order_relaxed);
}

/* Return the process, if the list belongs to this process, is not empty, and this is not in
 * gputap's own call; else 0. */
static inline uint32_t gt_cl_queue_epoch(const struct gt_cl_queue *q)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);

	if (!gt_cl_queue_count(q) || gt_thread.internal ||
	    atomic_load_explicit(&q->epoch, memory_order_relaxed) != epoch)
		return 0;
	return epoch;
}

/* Take a lock of a queue whose list belongs to this process. */
static inline bool gt_cl_queue_lock(struct gt_cl_lock *lock, uint32_t epoch)
{
	enum gt_cl_lock_result r = gt_cl_lock_take(lock, epoch);

	if (gt_unlikely(r == GT_CL_LOCK_STALE)) /* gt_cl_queue_get() resets it */
		gt_cl_lock_release(lock);
	return r == GT_CL_LOCK_TAKEN;
}

/* Append a chunk to the tail, when it is full or there are none yet. Return false if out of memory.
 * The caller holds q->push. */
bool gt_cl_tail_grow(struct gt_cl_queue *q, uint32_t epoch);

/* Return the place of the next entry; its position is q->pushed. Return NULL if out of memory. The
 * caller holds q->push. */
static inline struct gt_cl_pending *gt_cl_tail_entry(struct gt_cl_queue *q, uint32_t epoch)
{
	uint64_t pushed = atomic_load_explicit(&q->pushed, memory_order_relaxed);

	if (gt_unlikely(pushed % GT_CL_CHUNK == 0) && !gt_cl_tail_grow(q, epoch))
		return NULL;
	return &q->tail->entry[pushed % GT_CL_CHUNK];
}

/* Commit that entry when it is complete: it now belongs to the harvester. The caller holds
 * q->push. */
static inline void gt_cl_tail_commit(struct gt_cl_queue *q)
{
	atomic_store_explicit(&q->pushed,
			      atomic_load_explicit(&q->pushed, memory_order_relaxed) + 1,
			      memory_order_release);
}

/* Make the first chunk a spare one, when the harvest has left it. The caller holds q->harvest. */
void gt_cl_head_drop(struct gt_cl_queue *q, uint32_t epoch);

/* Return the entry at a position that was pushed and not harvested. A drained chunk is removed
 * here, not when its last entry is done: the tail points into it until there is another one. The
 * caller holds q->harvest. */
static inline const struct gt_cl_pending *gt_cl_head_entry(struct gt_cl_queue *q, uint64_t at,
							   uint32_t epoch)
{
	if (at == q->head_at + GT_CL_CHUNK)
		gt_cl_head_drop(q, epoch);
	return &q->head->entry[at - q->head_at];
}

/* Iterator over the list's entries, from the first that is not harvested. The caller holds
 * q->harvest. */
struct gt_cl_cursor {
	struct gt_cl_chunk *chunk;
	uint64_t base; /* position of its first entry */
};

static inline struct gt_cl_cursor gt_cl_cursor_start(const struct gt_cl_queue *q)
{
	return (struct gt_cl_cursor){q->head, q->head_at};
}

/* @at: not before the last requested position. */
static inline struct gt_cl_pending *gt_cl_cursor_entry(struct gt_cl_cursor *c, uint64_t at)
{
	for (; at >= c->base + GT_CL_CHUNK; c->base += GT_CL_CHUNK)
		c->chunk = c->chunk->next;
	return &c->chunk->entry[at - c->base];
}

/* Make the list this process's, and empty: entries left after a fork belong to the parent. */
void gt_cl_queue_reset(struct gt_cl_queue *q, uint32_t epoch);

/* Make sure that some chunks are ready for use. Called in the helper, so that launches need not do
 * it. */
void gt_cl_spare_grow(uint32_t epoch);

/* Return how many references of an event gputap holds; it does not change while *locked: call
 * gt_cl_lock_release() on q->harvest after the query that uses the number. */
uint32_t gt_cl_event_references(struct gt_cl_queue *q, cl_event event, bool *locked);

#endif
