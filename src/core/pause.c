/* SPDX-License-Identifier: MIT */
/* Pauses and resumes the session's recording. process_pauses.h lists the reasons to pause;
 * context.h describes the effects. */
#include "core/context.h"
#include "core/recording.h"

GT_AT_START void (*gt_contexts_resume_hook)(void);

/* Return this process's segment; NULL: the process has no segment, or the collector does not read
 * it. */
static struct gt_segment *own_segment(void)
{
	return gt_recording_epoch() && gt_recording_is_run()
		       ? atomic_load_explicit(&gt_recording.segment, memory_order_acquire)
		       : NULL;
}

/* Return true if @who is the only reason to pause. If two reasons end at the same time, both
 * threads may still see the other reason; in this case the hook for changes does the work. */
static bool is_last(enum gt_pause who)
{
	return !(atomic_load_explicit(&gt_pause_reasons, memory_order_relaxed) & ~(uint32_t)who);
}

void gt_contexts_fork(void)
{
	gt_core_lock();
	if (gt_windows_fork(gt_recording.session))
		gt_session_set_started(
			!atomic_load_explicit(&gt_pause_reasons, memory_order_relaxed));
	gt_core_unlock();
}

void gt_contexts_pause(enum gt_pause who, bool paused, enum gt_window_why why)
{
	struct gt_segment *r = own_segment();

	if (!paused && gt_contexts_resume_hook && is_last(who))
		gt_contexts_resume_hook();
	gt_core_lock();
	if (gt_windows_change(who, paused, why)) {
		if (!paused)
			gt_windows_write(r, why, true);
		gt_session_set_started(!paused);
		if (paused)
			gt_windows_write(r, why, false);
	}
	gt_core_unlock();
	gt_contexts_changed();
}
