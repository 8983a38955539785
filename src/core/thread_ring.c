/* SPDX-License-Identifier: MIT */
/* A thread's slot, its blocks, and its lost records. Used by core/thread.h when a ring is full, and
 * by thread.c for a new thread.
 *
 *   thread starts ── first recorded call ──► slot (TAKEN, ACTIVE) ── ring full ──► next block ..
 *                 ── thread ends ──► CLOSED
 *
 * A thread beyond the segment's slots has no slot. The thread counts in a separate page. Each time
 * the thread drops a record, these counts are added to slot 0 of the segment, which has only counts
 * and no ring, so that seen = recorded + dropped stays exact.
 *
 * In a process that only tools observe, a thread gets a slot, but no blocks and no counts.
 *
 * Never here: locks that a program's thread may hold when it is killed or forks, malloc,
 * cancellation points, changes to errno. */
#include "core/thread_parts.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/recording.h"
#include "core/seccomp.h"
#include "core/subscriber.h"
#include "ring/segment_writer.h"
#include "util/clock_ns.h"

enum { OVERFLOW_SLOT = 0, NAP_NS = 50000 };

static _Atomic uint32_t slot_hint = 1;

/* State of a thread for which the segment has no slot. `slot` is the thread's private slot;
 * `folded` holds the counts that were already added to slot 0. */
struct overflow {
	struct gt_slot slot;
	uint64_t folded[GT_CLASS_COUNT][GT_DOMAIN_COUNT];
};

static bool slot_in_segment(const struct gt_segment *r, const struct gt_slot *s)
{
	return (const char *)s >= (const char *)r &&
	       (const char *)s < (const char *)r + r->block_offset;
}

static struct gt_segment *current_segment(void)
{
	return atomic_load_explicit(&gt_recording.segment, memory_order_acquire);
}

void gt_thread_forget(struct gt_thread *t)
{
	t->cur = NULL;
	t->end = 0;
	t->block = NULL;
	t->slot = NULL;
	t->api_id = 0;
	t->epoch = GT_EPOCH_NONE;
}

static void count32(_Atomic uint32_t *counter)
{
#if defined(__x86_64__)
	__asm__ volatile("incl %0" : "+m"(*counter) : : "cc"); /* as gt_count() */
#else
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
#endif
}

/* Add the overflow thread's new counts to the counts that the collector reads. */
static void fold_counts(struct gt_segment *r, struct overflow *o, enum gt_class class,
			enum gt_domain domain)
{
	uint64_t seen =
		atomic_load_explicit(&o->slot.domains[domain].seen[class], memory_order_relaxed);

	atomic_fetch_add_explicit(&gt_segment_slot(r, OVERFLOW_SLOT)->domains[domain].seen[class],
				  seen - o->folded[class][domain], memory_order_relaxed);
	o->folded[class][domain] = seen;
}

void gt_drop(struct gt_thread *t, enum gt_class class, enum gt_domain domain,
	     enum gt_drop_reason reason)
{
	struct gt_segment *r = current_segment();

	if (!t || !t->slot || t->epoch != atomic_load_explicit(gt_epoch, memory_order_relaxed) ||
	    !r->block_count)
		return;
	t->lost++;
	t->lost_domain = domain;
	if (slot_in_segment(r, t->slot)) {
		/* the dropped call may be the newest call, which is then not open any more */
		if (class == GT_CLASS_CALL)
			atomic_store_explicit(&t->slot->domains[domain].newest, 0,
					      memory_order_relaxed);
		count32(&t->slot->dropped[reason][class][domain]);
		return;
	}
	atomic_fetch_add_explicit(
		&gt_segment_slot(r, OVERFLOW_SLOT)->dropped[reason][class][domain], 1,
		memory_order_relaxed);
	for (int c = 0; c < GT_CLASS_COUNT; c++)
		fold_counts(r, (struct overflow *)t->slot, (enum gt_class)c, domain);
}

void *gt_ring_reserve_slow(struct gt_thread *t, size_t bytes, enum gt_class class,
			   enum gt_domain domain)
{
	enum gt_drop_reason why = GT_DROP_FULL;
	void *p = gt_ring_try(t, bytes, &why);

	if (!p)
		gt_drop(t, class, domain, why);
	return p;
}

void gt_thread_give_slot(struct gt_slot *slot)
{
	struct gt_segment *r = current_segment();

	if (!slot_in_segment(r, slot)) {
		munmap(slot, sizeof(struct overflow));
		return;
	}
	atomic_store_explicit(&slot->end_ticks, gt_ticks(), memory_order_relaxed);
	/* a segment without blocks has no collector to free closed slots */
	atomic_store_explicit(&slot->state, r->block_count ? GT_SLOT_CLOSED : GT_SLOT_FREE,
			      memory_order_release);
}

static struct gt_slot *overflow_slot(void)
{
	struct overflow *o =
		mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return o == MAP_FAILED ? NULL : &o->slot;
}

/* Wait until @take succeeds, because the collector returned a block or slot, or until
 * session.wait_ns is over. @take returns false if nothing can be taken yet, and clears *hope if it
 * never can. If the collector has returned no block during a whole wait, it is considered dead or
 * stuck, and the next wait only starts after the collector's count has changed. */
static bool wait_for(struct gt_segment *r,
		     bool (*take)(struct gt_segment *r, uint32_t *number, bool *hope),
		     uint32_t *number)
{
	static _Atomic uint64_t stuck_at = UINT64_MAX;
	uint64_t drained = atomic_load_explicit(&r->drain_count, memory_order_relaxed);
	uint64_t limit_ns = gt_recording.session->wait_ns, begin_ns;
	struct timespec nap = {0, NAP_NS};
	bool hope = true;

	if (atomic_load_explicit(&stuck_at, memory_order_relaxed) == drained || limit_ns == 0)
		return false;
	begin_ns = gt_clock_ns(CLOCK_MONOTONIC);
	do {
		if (take(r, number, &hope))
			return true;
		if (!hope || atomic_load_explicit(&r->stop, memory_order_relaxed))
			return false;
		syscall(SYS_nanosleep, &nap, NULL);
	} while (gt_clock_ns(CLOCK_MONOTONIC) - begin_ns < limit_ns);
	if (take(r, number, &hope))
		return true;
	if (atomic_load_explicit(&r->drain_count, memory_order_relaxed) == drained)
		atomic_store_explicit(&stuck_at, drained, memory_order_relaxed);
	return false;
}

static bool take_block(struct gt_segment *r, uint32_t *number, bool *hope)
{
	(void)hope;
	*number = gt_block_take(r);
	return *number != GT_BLOCK_NONE;
}

/* Take a slot. The collector returns the slots of ended threads. */
static bool take_slot(struct gt_segment *r, uint32_t *index, bool *hope)
{
	uint32_t used = atomic_load_explicit(&r->slots_used, memory_order_acquire);

	*hope = false;
	for (uint32_t i = 0; i < used && !*hope; i++)
		*hope = atomic_load_explicit(&gt_segment_slot(r, i)->state, memory_order_relaxed) ==
			GT_SLOT_CLOSED;
	/* again after the loop, because slots that were closed during the loop may be free now */
	*index = gt_slot_take(r, &slot_hint);
	return *index != UINT32_MAX;
}

struct gt_slot *gt_thread_take_slot(uint32_t tid, const char *name)
{
	struct gt_segment *r = current_segment();
	uint32_t index = gt_slot_take(r, &slot_hint), ordinal;
	struct gt_slot *slot;

	if (index == UINT32_MAX && !wait_for(r, take_slot, &index))
		return overflow_slot();
	slot = gt_segment_slot(r, index);
	ordinal = atomic_fetch_add_explicit(&r->next_ordinal, 1, memory_order_relaxed) + 1;
	slot->ordinal = ordinal;
	slot->tid = tid ? tid : (uint32_t)syscall(SYS_gettid);
	atomic_store_explicit(&slot->first, GT_BLOCK_NONE, memory_order_relaxed);
	memset(slot->name, 0, sizeof slot->name);
	if (tid)
		memcpy(slot->name, name, strnlen(name, sizeof slot->name - 1));
	else if (!gt_seccomp_is_filtered())
		prctl(PR_GET_NAME, slot->name);
	slot->start_ticks = gt_ticks();
	atomic_store_explicit(&slot->end_ticks, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->state, GT_SLOT_ACTIVE, memory_order_release);
	return slot;
}

/* The caller holds `writing`. */
static void *next_block(struct gt_thread *t, size_t bytes, enum gt_drop_reason *why)
{
	struct gt_segment *r = current_segment();
	uint32_t number, index;

	*why = GT_DROP_FULL;
	if (!t->slot || t->epoch != atomic_load_explicit(gt_epoch, memory_order_relaxed))
		return NULL;
	if (!r->block_count)
		return NULL;
	if (gt_recording_stop_asked()) {
		*why = GT_DROP_UNFINISHED; /* the session ended before the call */
		gt_recording_stop();
		return NULL;
	}
	if (bytes > r->block_bytes - GT_BLOCK_HEADER_BYTES) {
		*why = GT_DROP_TOO_LONG;
		return NULL;
	}
	if (!slot_in_segment(r, t->slot))
		return NULL;
	number = gt_block_take(r);
	if (number == GT_BLOCK_NONE && !wait_for(r, take_block, &number)) {
		if (gt_recording_stop_asked())
			*why = GT_DROP_UNFINISHED;
		return NULL;
	}
	index = (uint32_t)((size_t)((char *)t->slot - (char *)gt_segment_slot(r, 0)) /
			   r->slot_bytes);
	gt_block_link(r, index, t->block, number);
	t->block = gt_segment_block(r, number);
	t->cur = gt_block_data(t->block);
	t->end = (uint32_t)((uintptr_t)t->block + r->block_bytes);
	return t->cur;
}

/* Write how many records were lost, now that there is room again. Return the new address for the
 * caller's record. */
static void *report_loss(struct gt_thread *t, size_t bytes)
{
	uint32_t lost = t->lost;
	enum gt_domain domain = (enum gt_domain)t->lost_domain;
	struct gt_record_event *e = (struct gt_record_event *)t->cur;

	if (gt_ring_room(t, t->cur) < bytes + sizeof *e)
		return t->cur; /* the loss is reported with the next block */
	t->lost = 0;
	e->head =
		(struct gt_record){sizeof *e / 8, GT_RECORD_EVENT, (uint8_t)domain, GT_EVENT_LOSS};
	e->time = gt_ticks();
	e->value = lost;
	e->bytes = 0;
	gt_ring_commit(t, sizeof *e);
	/* `writing` is 0 here, because a subscriber may make calls, and their records come first */
	gt_subscribers_event(GT_EVENT_LOSS, domain, lost, NULL);
	t->writing = 1;
	/* a signal handler may have moved `end` before this point, but not after it */
	__asm__ volatile("" ::: "memory");
	return gt_ring_room(t, t->cur) >= bytes ? t->cur : NULL;
}

void *gt_ring_next(struct gt_thread *t, size_t bytes, enum gt_drop_reason *why)
{
	int saved = errno;
	void *p = next_block(t, bytes, why);

	if (p && t->lost)
		p = report_loss(t, bytes);
	errno = saved;
	return p;
}
