/* SPDX-License-Identifier: MIT */
/* See late.h. The state keeps a new session from attaching while the hooks of the former one still
 * run.
 *
 * Locking: a lock in the page that a fork wipes keeps a session and a tool from running hooks at
 * the same time. A hook may call a tool, which may add a tool: then the hooks run once more. */
#include "core/late.h"

#include <stdatomic.h>

#include "core/emit.h"
#include "core/recording.h"
#include "core/recording_state.h"

_Atomic bool gt_late_came;
static _Atomic bool is_attached;

/* Inside gt_late_attach_all(), and called again in it. */
static _Thread_local struct {
	bool is_inside, again;
} here __attribute__((tls_model("initial-exec")));

void gt_late_begin(void)
{
	atomic_store(&gt_late_came, true);
}

void gt_late_attach_all(void)
{
	here.again = true;
	if (here.is_inside)
		return;
	gt_word_take(&gt_wiped.late_lock);
	here.is_inside = true;
	atomic_store(&is_attached, true);
	while (here.again) {
		here.again = false;
		for (const struct gt_late *l = GT_PROVIDED(gt_late); l < GT_PROVIDED_END(gt_late);
		     l++)
			if (l->attach)
				l->attach();
	}
	here.is_inside = false;
	atomic_store_explicit(&gt_wiped.late_lock, 0, memory_order_release);
}

void gt_late_finish_all(void)
{
	if (!atomic_load(&is_attached))
		return;
	for (const struct gt_late *l = GT_PROVIDED(gt_late); l < GT_PROVIDED_END(gt_late); l++)
		if (l->finish)
			l->finish();
}

void gt_late_detach_all(void)
{
	/* tools outlive the session */
	if (atomic_load(&gt_recording.tools) || !atomic_exchange(&is_attached, false))
		return;
	gt_word_take(&gt_wiped.late_lock);
	for (const struct gt_late *l = GT_PROVIDED(gt_late); l < GT_PROVIDED_END(gt_late); l++)
		if (l->detach)
			l->detach();
	atomic_store_explicit(&gt_wiped.late_lock, 0, memory_order_release);
}

void gt_late_missing(enum gt_domain domain, const char *what)
{
	if (gt_recording_is_run())
		gt_event_write(gt_thread_own(), GT_EVENT_LATE, domain, 0, what);
	for (const struct gt_late_listener *l = GT_PROVIDED(gt_late_listener);
	     l < GT_PROVIDED_END(gt_late_listener); l++)
		l->missing(domain, what);
}
