/* SPDX-License-Identifier: MIT */
/* See hsa_copy.h. */
#include "runtime/hsa/hsa_copy.h"

#include "runtime/hsa/hsa_work_items.h"

enum { COPIES = 4096 };

static struct gt_hsa_copy copies[COPIES];
static _Atomic uint32_t used;  /* slots below have been in use */
static _Atomic uint32_t first; /* where to look for a free one */
static _Atomic uint32_t taken; /* so many are in use */

bool gt_hsa_copies_exist(void)
{
	return atomic_load_explicit(&taken, memory_order_relaxed);
}

struct gt_hsa_copy *gt_hsa_copy_take(void)
{
	uint32_t from = atomic_load_explicit(&first, memory_order_relaxed), limit;

	for (uint32_t i = from < COPIES ? from : 0; i < COPIES; i++) {
		uint32_t free = 0;

		if (atomic_load_explicit(&copies[i].taken, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong_explicit(&copies[i].taken, &free, 1,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		limit = atomic_load_explicit(&used, memory_order_relaxed);
		while (limit <= i && !atomic_compare_exchange_weak_explicit(&used, &limit, i + 1,
									    memory_order_release,
									    memory_order_relaxed))
			;
		atomic_store_explicit(&first, i + 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
		return &copies[i];
	}
	atomic_store_explicit(&first, 0, memory_order_relaxed);
	return NULL;
}

static void free_copy(struct gt_hsa_copy *c)
{
	uint32_t i = (uint32_t)(c - copies);

	atomic_store_explicit(&c->watch.state, GT_HSA_WORK_FREE, memory_order_relaxed);
	atomic_store_explicit(&c->taken, 0, memory_order_release);
	atomic_fetch_sub_explicit(&taken, 1, memory_order_relaxed);
	if (i < atomic_load_explicit(&first, memory_order_relaxed))
		atomic_store_explicit(&first, i, memory_order_relaxed);
}

uint32_t gt_hsa_copies_harvest(struct gt_hsa_agent *agent, struct gt_thread *t, uint32_t *done)
{
	uint32_t n = atomic_load_explicit(&used, memory_order_acquire), left = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct gt_hsa_copy *c = &copies[i];
		uint32_t state = atomic_load_explicit(&c->watch.state, memory_order_acquire);
		struct gt_work_item *item;
		struct gt_hsa_times times;

		if (state == GT_HSA_WORK_FREE || c->watch.agent != agent || c->epoch != t->epoch)
			continue;
		if (state < GT_HSA_WORK_SAVED && !gt_hsa_signal_harvest(&c->watch)) {
			left++;
			continue;
		}
		times = (struct gt_hsa_times){c->watch.times[0], c->watch.times[1]};
		state = atomic_load_explicit(&c->watch.state, memory_order_acquire);
		gt_hsa_work_write(&c->work, agent, c->work.queued,
				  state == GT_HSA_WORK_SAVED ? &times : NULL, t);
		item = atomic_exchange_explicit(&c->item, NULL, memory_order_acq_rel);
		if (gt_unlikely(item != NULL))
			gt_hsa_complete_item(item, agent,
					     state == GT_HSA_WORK_SAVED ? &times : NULL);
		free_copy(c);
		++*done;
	}
	return left;
}

void gt_hsa_copies_end(const struct gt_hsa_runtime *runtime, struct gt_thread *t)
{
	uint32_t n = atomic_load_explicit(&used, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		struct gt_hsa_copy *c = &copies[i];
		struct gt_work_item *item;

		if (atomic_load_explicit(&c->watch.state, memory_order_acquire) ==
			    GT_HSA_WORK_FREE ||
		    c->watch.agent->runtime != runtime || c->epoch != t->epoch)
			continue;
		gt_hsa_signal_forget(&c->watch);
		gt_hsa_work_count_unfinished(&c->work, t);
		item = atomic_exchange_explicit(&c->item, NULL, memory_order_acq_rel);
		if (item)
			gt_work_item_drop(item, true);
		free_copy(c);
	}
}
