/* SPDX-License-Identifier: MIT */
/* Takes numbers for ranges. A range's number comes from the thread's sequence, like a call's
 * number, but no call is opened. A reader can thus derive from the numbers which calls are nested
 * in the range. The functions are inline, because every torch operator takes a number. */
#ifndef GPUTAP_RUNTIME_RANGE_IDS_H
#define GPUTAP_RUNTIME_RANGE_IDS_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/thread.h"
#include "ring/segment.h"

static inline uint64_t gt_range_take_number(struct gt_thread *t)
{
	uint64_t id = 1;

#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(id), "+m"(t->next_id) : : "cc");
#else
	id = __atomic_fetch_add(&t->next_id, 1, __ATOMIC_RELAXED);
#endif
	return id;
}

/* Take the number of a range, and count the range as seen. Like gt_call_begin(), but opens no
 * call. */
static inline uint64_t gt_range_take_id(struct gt_thread *t, enum gt_domain domain,
					uint32_t operation)
{
	struct gt_slot_domain *mine = &t->slot->domains[domain];
	uint64_t id = gt_range_take_number(t);

	gt_count(&mine->seen[GT_CLASS_CALL]);
	atomic_store_explicit(&mine->newest, GT_CALL_WORD(id, operation), memory_order_relaxed);
	return id;
}

/* Prefetch the next cache lines of the ring, which the collector's core used last, so that they
 * arrive while the range runs. */
static inline void gt_range_fetch_ring(const struct gt_thread *t)
{
	__builtin_prefetch(t->cur, 1);
	__builtin_prefetch(t->cur + 64, 1);
	__builtin_prefetch(t->cur + 128, 1);
}

#endif
