/* SPDX-License-Identifier: MIT */
/* Writes processes and threads to the capture: see announce.h. */
#include "collector/announce.h"

#include <string.h>

#include "collector/batch.h"
#include "collector/guard.h"

void gt_announce_process(struct gt_drain *d, struct gt_process *process)
{
	struct gt_process_info info;
	struct gt_process_text text;

	if (process->lost)
		return;
	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return;
	}
	gt_process_describe(process, &info, &text);
	gt_guard_end();
	process->rank = info.rank;
	gt_capture_write_process(d->writer, &info);
}

void gt_announce_thread(struct gt_drain *d, struct gt_process *process, uint32_t i)
{
	const struct gt_slot *slot = gt_process_slot(process, i);
	char name[sizeof slot->name + 1];
	struct gt_thread_info info = {.process = process->index,
				      .ordinal = process->rings[i].ordinal,
				      .name = name};

	if (process->lost)
		return;
	if (!GT_GUARD()) {
		gt_batch_lose(d, process);
		return;
	}
	memcpy(name, slot->name, sizeof slot->name);
	name[sizeof slot->name] = '\0';
	info.tid = slot->tid;
	info.start_ticks = slot->start_ticks;
	info.end_ticks = atomic_load_explicit(&slot->end_ticks, memory_order_relaxed);
	gt_guard_end();
	gt_capture_write_thread(d->writer, &info);
}
