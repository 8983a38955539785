/* SPDX-License-Identifier: MIT */
/* A window defined with ranges: `gputap run --from 'step#3' --to 'step#5'`. Each process counts the
 * ranges that it starts, in all threads and from all sources (ROCTx, NVTX, torch, ITT,
 * gputap_range_begin()), even if paused or not recorded:
 *
 *   a range function, before it checks whether the range is recorded
 *     start  gt_range_note(): the N-th of --from resumes recording. True: it is the N-th of --to
 *     end    of that one, when its record is written: gt_range_window_end() pauses recording
 *
 * A process has one window. After its end, or if it cannot come any more, ranges are not counted. A
 * fork's child starts its own count from 0. The counts are in the segment, for the collector.
 * Without --from and --to, a range costs one additional load.
 * Locking: none for a range; at the start and end of the window, that of gt_contexts_pause(). */
#ifndef GPUTAP_CORE_RANGE_WINDOW_H
#define GPUTAP_CORE_RANGE_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/thread.h"
#include "ring/session.h"

/* 1 << enum gt_range_edge: edges that are still to come. 0: ranges are not counted. */
extern _Atomic uint32_t gt_range_edges GT_HOT __attribute__((visibility("hidden")));

/* Start to count. Return true if the process must start with a pause. */
bool gt_range_window_init(const struct gt_session *session);

bool gt_range_count(const char *name) __attribute__((cold, noinline));

/* Count a range of that name that starts. Return true if gt_range_window_end() must be called after
 * its end. */
static inline bool gt_range_note(const char *name)
{
	return gt_unlikely(atomic_load_explicit(&gt_range_edges, memory_order_relaxed)) &&
	       gt_range_count(name);
}

void gt_range_window_end(void) __attribute__((cold, noinline));

/* Return true if range functions are needed even if not recorded. Constant for a process. */
bool gt_range_window_is_asked(void);

#endif
