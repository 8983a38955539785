/* SPDX-License-Identifier: MIT */
#include "tool/tool_stock.h"

#include <errno.h>
#include <sys/mman.h>

/* Push a chain of free entries from @first to @last. */
static void put_chain(struct gt_tool_stock *stock, const struct gt_tool_entry *first,
		      struct gt_tool_entry *last)
{
	uint64_t head = atomic_load_explicit(&stock->free, memory_order_relaxed), fresh;

	do {
		atomic_store_explicit(&last->next, (uint32_t)head, memory_order_relaxed);
		fresh = ((head >> 32) + 1) << 32 | (first->index + 1);
	} while (!atomic_compare_exchange_weak_explicit(&stock->free, &head, fresh,
							memory_order_release,
							memory_order_relaxed));
}

static bool grow_stock(struct gt_tool_stock *stock)
{
	uint32_t n = atomic_load_explicit(&stock->chunk_count, memory_order_relaxed);
	int saved = errno;
	char *chunk;

	do {
		if (n == GT_TOOL_CHUNKS)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&stock->chunk_count, &n, n + 1,
							memory_order_relaxed,
							memory_order_relaxed));
	chunk = mmap(NULL, GT_TOOL_CHUNK * stock->entry_bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	if (chunk == MAP_FAILED)
		return false; /* the indices of this chunk are lost */
	atomic_store_explicit(&stock->chunks[n], chunk, memory_order_release);
	for (uint32_t i = 0; i < GT_TOOL_CHUNK; i++) {
		struct gt_tool_entry *e = gt_tool_stock_at(stock, n * GT_TOOL_CHUNK + i);

		e->index = n * GT_TOOL_CHUNK + i;
		atomic_store_explicit(&e->next, i + 1 < GT_TOOL_CHUNK ? e->index + 2 : 0,
				      memory_order_relaxed);
	}
	put_chain(stock, gt_tool_stock_at(stock, n * GT_TOOL_CHUNK),
		  gt_tool_stock_at(stock, n * GT_TOOL_CHUNK + GT_TOOL_CHUNK - 1));
	return true;
}

void *gt_tool_stock_take(struct gt_tool_stock *stock, bool may_grow)
{
	uint64_t head = atomic_load_explicit(&stock->free, memory_order_acquire), fresh;
	struct gt_tool_entry *e;

	do {
		while (!(uint32_t)head) {
			if (!may_grow || !grow_stock(stock))
				return NULL;
			head = atomic_load_explicit(&stock->free, memory_order_acquire);
		}
		e = gt_tool_stock_at(stock, (uint32_t)head - 1);
		fresh = ((head >> 32) + 1) << 32 |
			atomic_load_explicit(&e->next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(&stock->free, &head, fresh,
							memory_order_acquire,
							memory_order_acquire));
	return e;
}

void gt_tool_stock_give(struct gt_tool_stock *stock, struct gt_tool_entry *e)
{
	put_chain(stock, e, e);
}
