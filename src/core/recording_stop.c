/* SPDX-License-Identifier: MIT */
/* Ends recording in a process, at the collector's request or because the process has no segment. */
#include <stdbool.h>

#include "core/context.h"
#include "core/recording.h"

static _Atomic bool is_finishing;

void gt_recording_finish(bool finishing)
{
	atomic_store(&is_finishing, finishing);
}

void gt_recording_stop(void)
{
	atomic_store_explicit(&gt_recording.off, 1, memory_order_relaxed);
	gt_contexts_off();
}

int gt_recording_stop_asked(void)
{
	struct gt_segment *r = atomic_load_explicit(&gt_recording.segment, memory_order_relaxed);

	return (atomic_load_explicit(&gt_recording.session->stop, memory_order_relaxed) &&
		!atomic_load_explicit(&is_finishing, memory_order_relaxed)) ||
	       (r && atomic_load_explicit(&r->stop, memory_order_relaxed));
}
