/* SPDX-License-Identifier: MIT */
/* See depend_parts.h. The collector records which thread held the lock for which another thread
 * waited (GT_HOST_STATE rows). Such a wait ends when the holder releases the lock, some time after
 * the last call that the holder had made by then.
 *
 *   holder  | launch | synchronise | host, releases the lock
 *                                  \ thread
 *   other   | host: until the lock | waits ~~~~~~~~~ ▼ host  | launch
 *
 * The readings start late and end early, so the wait that is found is a part of the real one. */
#include <stdlib.h>

#include "analysis/depend/depend_parts.h"
#include "record/host_state.h"

enum {
	/* rows of one wait may lie this far apart, and a tenth of the wait */
	HOLE_NS = 12000000,
	WAIT_LEAST_NS = 1000000,
};

void depend_note_lock(struct depend *d, const struct gt_item *item)
{
	struct depend_reading *r = d->reading;

	if (item->push != GT_HOST_STATE || item->op != GT_HOST_STATE_LOCK || !item->args[2] ||
	    item->end_ns <= item->start_ns)
		return;
	GROW_LIST(r->locks, r->lock_count, r->lock_room);
	r->locks[r->lock_count++] = (struct depend_lock){.start = item->start_ns,
							 .end = item->end_ns,
							 .process = item->process,
							 .thread = item->ordinal,
							 .holder = (uint32_t)item->args[2]};
}

static int compare_locks(const void *x, const void *y)
{
	const struct depend_lock *a = x, *b = y;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* Return the index of a thread in depend.threads; LOOKUP_NONE: it made no call. */
static uint32_t find_thread(const struct depend *d, uint32_t process, uint32_t ordinal)
{
	for (uint32_t t = 0; t < d->thread_count; t++)
		if (d->threads[t].process == process && d->threads[t].ordinal == ordinal)
			return t;
	return LOOKUP_NONE;
}

/* Return the index of the thread with a tid, which a later thread may have too. */
static uint32_t find_holder(const struct depend *d, const struct depend_lock *lock)
{
	for (uint32_t t = 0; t < d->thread_count; t++) {
		const struct depend_thread *other = &d->threads[t];
		const struct gt_thread_info *info =
			other->process == lock->process
				? gt_capture_thread_find(d->capture, other->process, other->ordinal)
				: NULL;

		if (info && info->tid == lock->holder && other->start < lock->end &&
		    (!other->end || other->end > lock->start))
			return t;
	}
	return LOOKUP_NONE;
}

void depend_place_locks(struct depend *d)
{
	struct depend_reading *r = d->reading;
	size_t kept = 0;

	for (size_t i = 0; i < r->lock_count; i++) {
		struct depend_lock lock = r->locks[i];
		const uint32_t holder = find_holder(d, &lock);

		lock.thread = find_thread(d, lock.process, lock.thread);
		if (lock.thread == LOOKUP_NONE || holder == LOOKUP_NONE || holder == lock.thread)
			continue;
		lock.holder = holder;
		r->locks[kept++] = lock;
	}
	r->lock_count = kept;
	if (kept)
		qsort(r->locks, kept, sizeof *r->locks, compare_locks);
}

/* Return the index of the thread's first row that ends after @time. */
static size_t first_after(const struct depend_reading *r, uint32_t thread, uint64_t time)
{
	size_t low = 0, high = r->lock_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct depend_lock *lock = &r->locks[middle];

		if (lock->thread < thread || (lock->thread == thread && lock->end <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool depend_find_lock(const struct depend *d, const struct depend_node *n, struct depend_lock *wait)
{
	const struct depend_reading *r = d->reading;
	struct depend_lock now = {.thread = LOOKUP_NONE};
	uint64_t longest = 0;

	for (size_t i = first_after(r, n->owner, n->start);
	     i < r->lock_count && r->locks[i].thread == n->owner && r->locks[i].start < n->end;
	     i++) {
		const struct depend_lock *row = &r->locks[i];
		const uint64_t start = row->start < n->start ? n->start : row->start;
		const uint64_t end = row->end > n->end ? n->end : row->end;
		const bool joins = now.thread != LOOKUP_NONE && row->holder == now.holder &&
				   start <= now.end + HOLE_NS + (now.end - now.start) / 10;

		if (!joins) {
			now = *row;
			now.start = start;
		}
		now.end = end;
		if (now.end - now.start > longest) {
			longest = now.end - now.start;
			*wait = now;
		}
	}
	return longest >= WAIT_LEAST_NS;
}
