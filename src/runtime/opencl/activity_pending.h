/* SPDX-License-Identifier: MIT */
/* Work in flight: a list per queue.
 *
 *        harvested ▼                    ▼ pushed
 *   | chunk ─────────────► chunk ─────────────► chunk |   entries in a row, as they were submitted
 *     q->head                              q->tail        a drained chunk goes to the spare ones
 *
 * An enqueue, in the program's thread (activity_follow.c):
 *   1. It takes q->push, the lock of the threads that enqueue to this queue.
 *   2. It writes the entry at the tail. Behind a full chunk comes a spare one.
 *   3. It stores q->pushed + 1 (release): the entry is the harvester's.
 * The harvest (activity_harvest.c), one thread at a time, which holds q->harvest:
 *   1. It loads q->pushed (acquire): the entries before that position are whole.
 *   2. It handles the entry at q->harvested.
 *   3. It stores q->harvested + 1 (release), and goes on with 2.
 * A chunk becomes a spare one when the harvest has stepped into the next chunk.
 * Locks, in the order in which they are taken: q->harvest, q->push, that of the spare chunks. After
 * a fork the child's first use of a queue forgets the parent's entries (gt_cl_queue_reset()).
 * Never here: calls of the runtime. */
#ifndef GPUTAP_RUNTIME_OPENCL_ACTIVITY_PENDING_H
#define GPUTAP_RUNTIME_OPENCL_ACTIVITY_PENDING_H

#include "runtime/opencl/activity.h"

enum { GT_CL_CHUNK = 32 }; /* entries: 3.5 KiB; a power of two: each command divides by it */

/* A command in flight. */
struct gt_cl_pending {
	cl_event event; /* one reference is ours */
	uint64_t id, call_start;
	/* its number: the queue's entry may stand for another one by the time that this is done */
	uint64_t queue;
	uint32_t device; /* GT_DEVICE_REF() */
	uint16_t op;     /* enum gt_device_op */
	bool recorded;   /* and not only notified */
	struct gt_cl_what what;
	struct gt_work_item *item; /* for tools; NULL: none asks */
};

struct gt_cl_chunk {
	struct gt_cl_chunk *next;
	struct gt_cl_pending entry[GT_CL_CHUNK];
};

/* Commands that are in the list. */
static inline uint64_t gt_cl_queue_count(const struct gt_cl_queue *q)
{
	return atomic_load_explicit(&q->pushed, memory_order_relaxed) -
	       atomic_load_explicit(&q->harvested, memory_order_relaxed);
}

/* The process, if the list is this process's, holds something, and this is no call of gputap's
 * own; else 0. */
static inline uint32_t gt_cl_queue_epoch(const struct gt_cl_queue *q)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);

	if (!gt_cl_queue_count(q) || gt_thread.internal ||
	    atomic_load_explicit(&q->epoch, memory_order_relaxed) != epoch)
		return 0;
	return epoch;
}

/* A lock of a queue whose list is this process's. */
static inline bool gt_cl_queue_lock(struct gt_cl_lock *lock, uint32_t epoch)
{
	enum gt_cl_lock_result r = gt_cl_lock_take(lock, epoch);

	if (gt_unlikely(r == GT_CL_LOCK_STALE)) /* gt_cl_queue_get() resets it */
		gt_cl_lock_release(lock);
	return r == GT_CL_LOCK_TAKEN;
}

/* A chunk behind the tail, which is full, or there is none yet. With q->push held. False: no
 * memory. */
bool gt_cl_tail_grow(struct gt_cl_queue *q, uint32_t epoch);

/* Where the next entry goes; its position is q->pushed. With q->push held. NULL: no memory. */
static inline struct gt_cl_pending *gt_cl_tail_entry(struct gt_cl_queue *q, uint32_t epoch)
{
	uint64_t pushed = atomic_load_explicit(&q->pushed, memory_order_relaxed);

	if (gt_unlikely(pushed % GT_CL_CHUNK == 0) && !gt_cl_tail_grow(q, epoch))
		return NULL;
	return &q->tail->entry[pushed % GT_CL_CHUNK];
}

/* That entry is whole: it is the harvester's. With q->push held. */
static inline void gt_cl_tail_commit(struct gt_cl_queue *q)
{
	atomic_store_explicit(&q->pushed,
			      atomic_load_explicit(&q->pushed, memory_order_relaxed) + 1,
			      memory_order_release);
}

/* The harvest has stepped behind the first chunk: it becomes a spare one. With q->harvest held. */
void gt_cl_head_drop(struct gt_cl_queue *q, uint32_t epoch);

/* The entry at a position that was pushed and not harvested. A chunk that is behind goes away
 * here, not when its last entry is done: the tail points into it until there is another one.
 * With q->harvest held. */
static inline const struct gt_cl_pending *gt_cl_head_entry(struct gt_cl_queue *q, uint64_t at,
							   uint32_t epoch)
{
	if (at == q->head_at + GT_CL_CHUNK)
		gt_cl_head_drop(q, epoch);
	return &q->head->entry[at - q->head_at];
}

/* Entries of the list, one after the other, from the first that is not harvested. With q->harvest
 * held. */
struct gt_cl_cursor {
	struct gt_cl_chunk *chunk;
	uint64_t base; /* position of its first entry */
};

static inline struct gt_cl_cursor gt_cl_cursor_start(const struct gt_cl_queue *q)
{
	return (struct gt_cl_cursor){q->head, q->head_at};
}

/* @at: not before the last one that was asked for. */
static inline struct gt_cl_pending *gt_cl_cursor_entry(struct gt_cl_cursor *c, uint64_t at)
{
	for (; at >= c->base + GT_CL_CHUNK; c->base += GT_CL_CHUNK)
		c->chunk = c->chunk->next;
	return &c->chunk->entry[at - c->base];
}

/* The list is this process's, and empty: what fork left in it is the parent's. */
void gt_cl_queue_reset(struct gt_cl_queue *q, uint32_t epoch);

/* Make sure that there are some chunks ready for use. The helper does, so that launches need
 * not. */
void gt_cl_spare_grow(uint32_t epoch);

/* gputap's own references of an event; none comes or goes while *locked: gt_cl_lock_release()
 * q->harvest after the query that the answer is for. */
uint32_t gt_cl_event_references(struct gt_cl_queue *q, cl_event event, bool *locked);

#endif
