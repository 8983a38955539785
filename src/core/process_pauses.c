/* SPDX-License-Identifier: MIT */
/* See process_pauses.h. */
#include "core/process_pauses.h"

#include "core/range_window.h"
#include "core/thread.h"

GT_AT_START _Atomic uint32_t gt_pause_reasons;
_Atomic uint32_t gt_pauses;
GT_AT_START _Atomic uint32_t gt_control_pending;

static _Atomic uint32_t newest_why; /* reason of the current pause */

void gt_windows_init(const struct gt_session *session)
{
	uint32_t control = atomic_load_explicit(&session->control, memory_order_relaxed),
		 paused = GT_CONTROL_IS_PAUSED(control) ? GT_PAUSE_SESSION : 0,
		 ranges = gt_range_window_init(session) ? GT_PAUSE_RANGES : 0;

	atomic_store_explicit(&gt_pause_reasons, paused | ranges, memory_order_relaxed);
	if (!paused && !ranges)
		return;
	atomic_store_explicit(&newest_why, paused ? GT_CONTROL_WHY(control) : GT_WINDOW_RANGE,
			      memory_order_relaxed);
	atomic_store_explicit(&gt_pauses, 1, memory_order_relaxed);
}

bool gt_windows_fork(const struct gt_session *session)
{
	return gt_windows_change(GT_PAUSE_RANGES, gt_range_window_init(session), GT_WINDOW_RANGE);
}

static void write_change(struct gt_segment *r, uint64_t ticks, uint32_t why, bool recorded)
{
	uint32_t n = atomic_load_explicit(&r->window_count, memory_order_relaxed);

	r->windows[n % GT_WINDOWS_KEPT] = (struct gt_window){ticks, why, recorded};
	atomic_store_explicit(&r->window_count, n + 1, memory_order_release);
}

void gt_windows_begin(struct gt_segment *r, uint64_t ticks, bool attached)
{
	if (attached)
		write_change(r, ticks, GT_WINDOW_ATTACHED, true);
	if (atomic_load_explicit(&gt_pause_reasons, memory_order_relaxed))
		write_change(r, ticks, atomic_load_explicit(&newest_why, memory_order_relaxed),
			     false);
}

void gt_windows_write(struct gt_segment *r, enum gt_window_why why, bool recorded)
{
	if (r)
		write_change(r, gt_ticks(), why, recorded);
}

bool gt_windows_change(enum gt_pause who, bool paused, enum gt_window_why why)
{
	uint32_t before = atomic_load_explicit(&gt_pause_reasons, memory_order_relaxed),
		 after = paused ? before | who : before & ~(uint32_t)who;

	atomic_store_explicit(&gt_pause_reasons, after, memory_order_relaxed);
	if (!before == !after)
		return false;
	atomic_store_explicit(&newest_why, why, memory_order_relaxed);
	atomic_fetch_add_explicit(&gt_pauses, 1, memory_order_relaxed);
	return true;
}
