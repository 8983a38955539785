/* SPDX-License-Identifier: MIT */
/* Allocates entries of one size without a lock. Entries stay mapped, so a thread with a stale index
 * may still read its entry. The free entries form a stack. Its counter detects reuse of an entry
 * between load and exchange. The stock grows by one chunk at a time if the caller allows the system
 * call. Never here: malloc. */
#ifndef GPUTAP_TOOL_TOOL_STOCK_H
#define GPUTAP_TOOL_TOOL_STOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_TOOL_CHUNK = 128, GT_TOOL_CHUNKS = 2048 };

/* The first member of each entry. */
struct gt_tool_entry {
	/* index + 1 of the next entry in the pool or in a list of completed entries */
	_Atomic uint32_t next;
	uint32_t index;
};

struct gt_tool_stock {
	_Atomic uint64_t free; /* index + 1 of the first free entry | number of changes << 32 */
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

/* Return an upper limit of the indices of existing entries. Some lower indices may not exist. */
static inline uint32_t gt_tool_stock_count(struct gt_tool_stock *stock)
{
	return atomic_load_explicit(&stock->chunk_count, memory_order_acquire) * GT_TOOL_CHUNK;
}

/* Return an entry, or NULL if the entry does not exist yet. */
static inline void *gt_tool_stock_look(struct gt_tool_stock *stock, uint32_t index)
{
	return atomic_load_explicit(&stock->chunks[index / GT_TOOL_CHUNK], memory_order_acquire)
		       ? gt_tool_stock_at(stock, index)
		       : NULL;
}

/* Take an entry. Return NULL if no entry is free and the stock cannot grow. A new entry is zero
 * except for its index. */
void *gt_tool_stock_take(struct gt_tool_stock *stock, bool may_grow);
void gt_tool_stock_give(struct gt_tool_stock *stock, struct gt_tool_entry *e);

#endif
