/* SPDX-License-Identifier: MIT */
/* A window by ranges: `gputap run --from 'step#3' --to 'step#5'`. Each process counts the ranges
 * that it begins, in every thread and of every source (ROCTx, NVTX, torch, ITT,
 * gputap_range_begin()), paused or not, asked for or not:
 *
 *   a range function, before it looks whether it is recorded
 *     begin  gt_range_note(): the N-th of --from resumes recording. True: it is the N-th of --to
 *     end    .. of that one, when its record is written: gt_range_window_end() pauses recording
 *
 * A process has one window. When it is over, or can not come any more, nobody counts. A fork's
 * child begins anew, with a count of its own. The counts are in the segment, for the collector.
 * Where --from and --to are not given, a range costs one load more.
 * Locking: none on a range's way; where the window begins and ends, that of gt_contexts_pause(). */
#ifndef GPUTAP_CORE_RANGE_WINDOW_H
#define GPUTAP_CORE_RANGE_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/thread.h"
#include "ring/session.h"

/* 1 << enum gt_range_edge: which are still to come. 0: nobody counts. */
extern _Atomic uint32_t gt_range_edges GT_HOT __attribute__((visibility("hidden")));

/* Begin to count. Return: the process is to begin with a pause. */
bool gt_range_window_init(const struct gt_session *session);

bool gt_range_count(const char *name) __attribute__((cold, noinline));

/* A range of that name begins. True: gt_range_window_end() is to be called when it has ended. */
static inline bool gt_range_note(const char *name)
{
	return gt_unlikely(atomic_load_explicit(&gt_range_edges, memory_order_relaxed)) &&
	       gt_range_count(name);
}

void gt_range_window_end(void) __attribute__((cold, noinline));

/* Are ranges' functions to be looked at, whatever is recorded? Constant for a process. */
bool gt_range_window_is_asked(void);

#endif
