/* SPDX-License-Identifier: MIT */
/* See late.h. The state keeps a new session from attaching while the hooks of the former one still
 * run. */
#include "core/late.h"

#include <stdatomic.h>

#include "core/emit.h"
#include "core/recording.h"

_Atomic bool gt_late_came;
static _Atomic bool is_attached;

void gt_late_begin(void)
{
	atomic_store(&gt_late_came, true);
}

void gt_late_attach_all(void)
{
	atomic_store(&is_attached, true);
	for (const struct gt_late *l = GT_PROVIDED(gt_late); l < GT_PROVIDED_END(gt_late); l++)
		if (l->attach)
			l->attach();
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
	if (!atomic_exchange(&is_attached, false))
		return;
	for (const struct gt_late *l = GT_PROVIDED(gt_late); l < GT_PROVIDED_END(gt_late); l++)
		if (l->detach)
			l->detach();
}

void gt_late_missing(enum gt_domain domain, const char *what)
{
	if (gt_recording_is_run())
		gt_event_write(gt_thread_own(), GT_EVENT_LATE, domain, 0, what);
}
