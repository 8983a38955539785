/* SPDX-License-Identifier: MIT */
/* Lists completed activities and tracks the threads that notify tools of them. See tool_batch.h. */
#include "tool/tool_batch.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "tool/tool_reader.h"

_Atomic uint32_t gt_tool_done_list, gt_tool_orphans;
_Atomic uint32_t gt_tool_ended;
struct gt_tool_batch gt_tool_batches[GT_TOOL_BATCHES];
_Thread_local uint32_t gt_tool_deliveries;

void gt_tool_activity_is_done(struct gt_tool_activity *p)
{
	uint32_t head = atomic_load_explicit(&gt_tool_done_list, memory_order_relaxed);

	do
		atomic_store_explicit(&p->entry.next, head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&gt_tool_done_list, &head, p->entry.index + 1,
						      memory_order_release, memory_order_relaxed));
}

void gt_tool_deliver_left(void)
{
	const uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	uint32_t thread;

	if (!gt_tool_deliveries)
		return;
	thread = gt_tool_reader ? gt_tool_reader->thread : (uint32_t)syscall(SYS_gettid);
	for (struct gt_tool_batch *b = gt_tool_batches; b < gt_tool_batches + GT_TOOL_BATCHES; b++)
		if (atomic_load_explicit(&b->owner, memory_order_relaxed) ==
		    ((uint64_t)thread << 32 | epoch)) {
			atomic_store_explicit(&b->owner, (uint64_t)GT_TOOL_NO_THREAD << 32 | epoch,
					      memory_order_release);
			atomic_store_explicit(&gt_tool_orphans, 1, memory_order_release);
		}
	gt_tool_deliveries = 0;
}
