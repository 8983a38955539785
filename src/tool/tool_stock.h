/* SPDX-License-Identifier: MIT */
/* Things of one size that threads take and give back without a lock, and that stay mapped:
 * whoever still holds an index of one may look at it. A stack with a count against reuse between
 * load and exchange; it grows by a chunk where a caller allows the system call. Never here:
 * malloc. */
#ifndef GPUTAP_TOOL_TOOL_STOCK_H
#define GPUTAP_TOOL_TOOL_STOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_TOOL_CHUNK = 128, GT_TOOL_CHUNKS = 2048 };

/* At the beginning of what lies in a pool. */
struct gt_tool_entry {
	_Atomic uint32_t next; /* in the pool, or in a list of what is done: index + 1 */
	uint32_t index;
};

struct gt_tool_stock {
	_Atomic uint64_t free; /* index + 1 of the first, count of changes << 32 */
	_Atomic uint32_t chunk_count;
	size_t entry_bytes;
	_Atomic(char *) chunks[GT_TOOL_CHUNKS];
};

static inline struct gt_tool_entry *gt_tool_stock_at(struct gt_tool_stock *stock, uint32_t index)
{
	char *chunk =
		atomic_load_explicit(&stock->chunks[index / GT_TOOL_CHUNK], memory_order_acquire);

	return (struct gt_tool_entry *)(void *)(chunk +
						(index % GT_TOOL_CHUNK) * stock->entry_bytes);
}

/* Entries that there are have lower indices; some of them may not be there. */
static inline uint32_t gt_tool_stock_count(struct gt_tool_stock *stock)
{
	return atomic_load_explicit(&stock->chunk_count, memory_order_acquire) * GT_TOOL_CHUNK;
}

/* NULL: it is not there (yet). */
static inline void *gt_tool_stock_look(struct gt_tool_stock *stock, uint32_t index)
{
	return atomic_load_explicit(&stock->chunks[index / GT_TOOL_CHUNK], memory_order_acquire)
		       ? gt_tool_stock_at(stock, index)
		       : NULL;
}

/* NULL: there is none, or there is no memory. What is new is zero but for its index. */
void *gt_tool_stock_take(struct gt_tool_stock *stock, bool may_grow);
void gt_tool_stock_give(struct gt_tool_stock *stock, struct gt_tool_entry *e);

#endif
