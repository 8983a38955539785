/* SPDX-License-Identifier: MIT */
/* Lists of activities in flight, and their chunks: see activity_pending.h. */
#include "core/recording.h"
#include "runtime/opencl/activity_pending.h"

enum { SPARE_WANTED = 32 }; /* number of chunks that the helper keeps ready */

/* Unused chunks. */
static struct {
	struct gt_cl_lock lock;
	_Atomic uint32_t count;
	struct gt_cl_chunk *first;
} spare;

static bool spare_lock(uint32_t epoch)
{
	switch (gt_cl_lock_take(&spare.lock, epoch)) {
	case GT_CL_LOCK_STALE:
		spare.first = NULL;
		spare.count = 0;
		break;
	case GT_CL_LOCK_FAILED: return false;
	case GT_CL_LOCK_TAKEN: break;
	}
	return true;
}

static void spare_give(struct gt_cl_chunk *c, uint32_t epoch)
{
	if (!spare_lock(epoch))
		return;
	c->next = spare.first;
	spare.first = c;
	spare.count++;
	gt_cl_lock_release(&spare.lock);
}

static struct gt_cl_chunk *spare_take(uint32_t epoch)
{
	struct gt_cl_chunk *c;

	if (atomic_load_explicit(&spare.count, memory_order_relaxed) == 0)
		return gt_cl_memory_take(epoch, sizeof *c);
	if (!spare_lock(epoch))
		return NULL;
	c = spare.first;
	if (c) {
		spare.first = c->next;
		spare.count--;
		c->next = NULL;
	}
	gt_cl_lock_release(&spare.lock);
	return c ? c : gt_cl_memory_take(epoch, sizeof *c);
}

void gt_cl_spare_grow(uint32_t epoch)
{
	struct gt_cl_chunk *c;

	while (atomic_load_explicit(&spare.count, memory_order_relaxed) < SPARE_WANTED) {
		c = gt_cl_memory_take(epoch, sizeof *c);
		if (!c)
			return;
		/* Touch the pages of the chunk in advance. */
		c->entry[0].event = c->entry[GT_CL_CHUNK - 1].event = NULL;
		spare_give(c, epoch);
	}
}

bool gt_cl_tail_grow(struct gt_cl_queue *q, uint32_t epoch)
{
	struct gt_cl_chunk *c = spare_take(epoch);

	if (!c)
		return false;
	if (q->tail)
		q->tail->next = c;
	else
		q->head = c;
	q->tail = c;
	return true;
}

void gt_cl_head_drop(struct gt_cl_queue *q, uint32_t epoch)
{
	struct gt_cl_chunk *behind = q->head;

	q->head = behind->next;
	q->head_at += GT_CL_CHUNK;
	spare_give(behind, epoch);
}

/* Keep the commands of an earlier session of this process in the list, until they are done. They
 * are not recorded. */
static void keep_commands(struct gt_cl_queue *q, uint32_t epoch)
{
	struct gt_cl_cursor c = gt_cl_cursor_start(q);

	for (uint64_t at = q->harvested; at < q->pushed; at++)
		gt_cl_cursor_entry(&c, at)->recorded = false;
	atomic_store_explicit(&q->epoch, epoch, memory_order_release);
}

void gt_cl_queue_reset(struct gt_cl_queue *q, uint32_t epoch)
{
	if (!gt_cl_lock_take(&q->push, epoch))
		return;
	if (gt_cl_lock_take(&q->harvest, epoch)) {
		if (gt_recording_owns(q->epoch)) {
			keep_commands(q, epoch);
			gt_cl_lock_release(&q->harvest);
			gt_cl_lock_release(&q->push);
			return;
		}
		/* The parent's chunks are not reused as spare ones, because a harvester of the
		 * parent may have been using them. */
		q->head = q->tail = NULL;
		q->harvested = q->pushed = 0;
		q->head_at = 0;
		atomic_store_explicit(&q->look, 0, memory_order_relaxed);
		atomic_store_explicit(&q->epoch, epoch, memory_order_release);
		gt_cl_lock_release(&q->harvest);
	}
	gt_cl_lock_release(&q->push);
}

uint32_t gt_cl_event_references(struct gt_cl_queue *q, cl_event event, bool *locked)
{
	uint32_t epoch = gt_cl_queue_epoch(q), ours = 0;
	struct gt_cl_cursor c;
	uint64_t end;

	*locked = epoch && gt_cl_queue_lock(&q->harvest, epoch);
	if (!*locked)
		return 0;
	c = gt_cl_cursor_start(q);
	end = atomic_load_explicit(&q->pushed, memory_order_acquire);
	for (uint64_t at = q->harvested; at < end; at++)
		ours += gt_cl_cursor_entry(&c, at)->event == event;
	return ours;
}
