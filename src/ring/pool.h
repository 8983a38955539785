/* SPDX-License-Identifier: MIT */
/* The pool of blocks, for both sides: writers take blocks, and the collector returns drained ones.
 *
 *   segment.free          tag << 32 | block: a stack through block.free_next. Each change
 *                         increments the tag, so that a stack whose top block was taken and
 *                         returned in the meantime is not mistaken for an unchanged stack (ABA)
 *   segment.blocks_used   blocks 1 to blocks_used were handed out at least once; the rest is
 *                         untouched memory
 *
 * Locking: none. A side that dies between two instructions leaks at most one block.
 * tests/unit/ring_model.c runs exactly these functions through every interleaving. */
#ifndef GPUTAP_RING_POOL_H
#define GPUTAP_RING_POOL_H

#include "ring/segment.h"

#define GT_POOL_TAG_ONE (UINT64_C(1) << 32)

/* Take a drained block, whose memory is warm and present. Return GT_BLOCK_NONE if no drained block
 * is available. */
static inline uint32_t gt_pool_pop(struct gt_segment *r)
{
	uint64_t top = atomic_load_explicit(&r->free, memory_order_acquire);

	for (;;) {
		uint32_t number = (uint32_t)top;
		uint64_t next;

		if (number == GT_BLOCK_NONE)
			return GT_BLOCK_NONE;
		/* the block may belong to another writer by now; then the tag has changed, and the
		 * exchange fails */
		next = atomic_load_explicit(&gt_segment_block(r, number)->free_next,
					    memory_order_relaxed);
		next |= (top & ~(GT_POOL_TAG_ONE - 1)) + GT_POOL_TAG_ONE;
		if (atomic_compare_exchange_weak_explicit(&r->free, &top, next,
							  memory_order_acquire,
							  memory_order_acquire))
			return number;
	}
}

/* Return @number to the pool. All reads from the block happen before the writes of its next
 * owner. */
static inline void gt_pool_push(struct gt_segment *r, uint32_t number)
{
	uint64_t top = atomic_load_explicit(&r->free, memory_order_relaxed), next;

	do {
		atomic_store_explicit(&gt_segment_block(r, number)->free_next, (uint32_t)top,
				      memory_order_relaxed);
		next = ((top & ~(GT_POOL_TAG_ONE - 1)) + GT_POOL_TAG_ONE) | number;
	} while (!atomic_compare_exchange_weak_explicit(&r->free, &top, next, memory_order_release,
							memory_order_relaxed));
}

/* Take a block that was never used. Its memory may not be present yet. Return GT_BLOCK_NONE if all
 * permitted blocks have been handed out. */
static inline uint32_t gt_pool_grow(struct gt_segment *r)
{
	uint32_t used = atomic_load_explicit(&r->blocks_used, memory_order_relaxed);
	uint32_t limit = atomic_load_explicit(&r->block_limit, memory_order_relaxed);

	if (!limit || limit > r->block_count)
		limit = r->block_count;
	do {
		if (used >= limit)
			return GT_BLOCK_NONE;
	} while (!atomic_compare_exchange_weak_explicit(&r->blocks_used, &used, used + 1,
							memory_order_relaxed,
							memory_order_relaxed));
	return used + 1;
}

#endif
