/* SPDX-License-Identifier: MIT */
/* Activities in flight: a list per queue.
 *
 *        harvested ▼                    ▼ pushed
 *   | chunk ─────────────► chunk ─────────────► chunk |   entries in order of submission
 *     q->head                              q->tail        a drained chunk becomes a spare chunk
 *
 * An enqueue, in the program's thread (activity_follow.c):
 *   1. The thread takes q->push, the lock of the threads that enqueue to this queue.
 *   2. The thread writes the entry at the tail. If the tail is full, the thread appends a spare
 *      chunk.
 *   3. The thread stores q->pushed + 1 (release). The entry now belongs to the harvester.
 * The harvest (activity_harvest.c), in the one thread that holds q->harvest:
 *   1. The thread loads q->pushed (acquire). The entries before that position are complete.
 *   2. The thread handles the entry at q->harvested.
 *   3. The thread stores q->harvested + 1 (release), and continues with step 2.
 * A chunk becomes a spare chunk when the harvest has entered the next chunk.
 * Lock order: q->harvest, q->push, lock of the spare chunks. After a fork, the child's first use of
 * a queue discards the parent's entries (gt_cl_queue_reset()).
 * Never here: calls of the runtime. */
#ifndef GPUTAP_RUNTIME_OPENCL_ACTIVITY_PENDING_H
#define GPUTAP_RUNTIME_OPENCL_ACTIVITY_PENDING_H

#include "runtime/opencl/activity.h"

/* Entries per chunk: 3.5 KiB. A power of two, because a position is divided by it for each
 * command. */
enum { GT_CL_CHUNK = 32 };

/* A command in flight. */
struct gt_cl_pending {
	cl_event event; /* gputap holds one reference */
	uint64_t id, call_start;
	/* Number of the queue. The queue's entry may be reused for another queue before this
	 * command is done. */
	uint64_t queue;
	uint32_t device; /* GT_DEVICE_REF() */
	uint16_t op;     /* enum gt_device_op */
	bool recorded;   /* true if recorded; if false, the command is only reported to tools */
	struct gt_cl_what what;
	struct gt_tool_activity *tool_activity; /* for tools; NULL: no tool wants the command */
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

/* Return the epoch of this process if the list belongs to this process and is not empty, and this
 * is not a call made by gputap; otherwise 0. */
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

	if (gt_unlikely(r == GT_CL_LOCK_STALE)) /* gt_cl_queue_get() resets the list */
		gt_cl_lock_release(lock);
	return r == GT_CL_LOCK_TAKEN;
}

/* Append a chunk if the tail is full or missing. Return false if out of memory. The caller must
 * hold q->push. */
bool gt_cl_tail_grow(struct gt_cl_queue *q, uint32_t epoch);

/* Return the next entry to fill in; its position is q->pushed. Return NULL if out of memory. The
 * caller must hold q->push. */
static inline struct gt_cl_pending *gt_cl_tail_entry(struct gt_cl_queue *q, uint32_t epoch)
{
	uint64_t pushed = atomic_load_explicit(&q->pushed, memory_order_relaxed);

	if (gt_unlikely(pushed % GT_CL_CHUNK == 0) && !gt_cl_tail_grow(q, epoch))
		return NULL;
	return &q->tail->entry[pushed % GT_CL_CHUNK];
}

/* Commit the entry that was filled in. The entry now belongs to the harvester. The caller must hold
 * q->push. */
static inline void gt_cl_tail_commit(struct gt_cl_queue *q)
{
	atomic_store_explicit(&q->pushed,
			      atomic_load_explicit(&q->pushed, memory_order_relaxed) + 1,
			      memory_order_release);
}

/* Turn the first chunk, which the harvest has left, into a spare chunk. The caller must hold
 * q->harvest. */
void gt_cl_head_drop(struct gt_cl_queue *q, uint32_t epoch);

/* Return the entry at a position that was pushed and not harvested. A drained chunk is removed
 * here, not when its last entry is done, because the tail points into that chunk until there is
 * another chunk. The caller must hold q->harvest. */
static inline const struct gt_cl_pending *gt_cl_head_entry(struct gt_cl_queue *q, uint64_t at,
							   uint32_t epoch)
{
	if (at == q->head_at + GT_CL_CHUNK)
		gt_cl_head_drop(q, epoch);
	return &q->head->entry[at - q->head_at];
}

/* Iterator over the list's entries, from the first one that is not harvested. The caller must hold
 * q->harvest. */
struct gt_cl_cursor {
	struct gt_cl_chunk *chunk;
	uint64_t base; /* position of the chunk's first entry */
};

static inline struct gt_cl_cursor gt_cl_cursor_start(const struct gt_cl_queue *q)
{
	return (struct gt_cl_cursor){q->head, q->head_at};
}

/* Return the entry at @at, which must not precede the previously requested position. */
static inline struct gt_cl_pending *gt_cl_cursor_entry(struct gt_cl_cursor *c, uint64_t at)
{
	for (; at >= c->base + GT_CL_CHUNK; c->base += GT_CL_CHUNK)
		c->chunk = c->chunk->next;
	return &c->chunk->entry[at - c->base];
}

/* Assign the list to this process and its session. Entries left by a fork belong to the parent, and
 * are discarded; those of an earlier session of this process stay, unrecorded. */
void gt_cl_queue_reset(struct gt_cl_queue *q, uint32_t epoch);

/* Ensure that some spare chunks are ready. Called by the helper, so that launches need not
 * allocate. */
void gt_cl_spare_grow(uint32_t epoch);

/* Return how many references to an event gputap holds. If *locked is set, that number stays
 * constant until the caller calls gt_cl_lock_release() for q->harvest; the caller does so after the
 * query that uses the number. */
uint32_t gt_cl_event_references(struct gt_cl_queue *q, cl_event event, bool *locked);

#endif
