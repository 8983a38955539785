/* SPDX-License-Identifier: MIT */
/* A recording window defined with ranges: `gputap run --from 'step#3' --to 'step#5'`. Each process
 * counts the ranges that it starts, in all threads and from all sources (ROCTx, NVTX, torch, ITT,
 * gputap_range_begin()), even if recording is paused or the range is not recorded:
 *
 *   a range function, before it checks whether the range is recorded
 *     start  gt_range_note(): the N-th range of --from resumes recording. Returns true for the N-th
 *            range of --to
 *     end    gt_range_window_end() pauses recording after the record of that --to range was written
 *
 * A process has one window. After the window has ended, or if it can no longer start, ranges are
 * not counted. A fork's child starts its own count from 0. The counts are stored in the segment,
 * where the collector reads them. Without --from and --to, a range costs one additional load.
 * Locking: none for a range; at the start and end of the window, the lock of
 * gt_contexts_pause(). */
#ifndef GPUTAP_CORE_RANGE_WINDOW_H
#define GPUTAP_CORE_RANGE_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/thread.h"
#include "ring/session.h"

/* Edges that have not been reached yet, as bits 1 << enum gt_range_edge. 0: ranges are not
 * counted. */
extern _Atomic uint32_t gt_range_edges GT_HOT __attribute__((visibility("hidden")));

/* Start counting ranges. Return true if the process must start with a pause. */
bool gt_range_window_init(const struct gt_session *session);

bool gt_range_count(const char *name) __attribute__((cold, noinline));

/* Count a range named @name that starts. Return true if the caller must call gt_range_window_end()
 * after the end of the range. */
static inline bool gt_range_note(const char *name)
{
	return gt_unlikely(atomic_load_explicit(&gt_range_edges, memory_order_relaxed)) &&
	       gt_range_count(name);
}

void gt_range_window_end(void) __attribute__((cold, noinline));

/* Return true if range functions must be intercepted even if ranges are not recorded. Constant for
 * a process. */
bool gt_range_window_is_asked(void);

#endif
