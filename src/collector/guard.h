/* SPDX-License-Identifier: MIT */
/* Guards reads of memory that another program may remove. A segment that is truncated during a
 * read, or a full tmpfs, raises SIGBUS. Between GT_GUARD() and gt_guard_end(), SIGBUS becomes a
 * failed GT_GUARD().
 *
 *	if (!GT_GUARD())
 *		return process_is_lost();
 *	... read; no allocation, no stdio, no capture writing; locals that matter are volatile or in
 *	    structs ...
 *	gt_guard_end();
 *
 * Each thread has a separate jump target. */
#ifndef GPUTAP_COLLECTOR_GUARD_H
#define GPUTAP_COLLECTOR_GUARD_H

#include <setjmp.h>
#include <stdbool.h>

extern _Thread_local sigjmp_buf gt_guard_point;

void gt_guard_install(void); /* installs the handler; kept until gt_guard_restore() */
/* restores the previous handler; also called in the child before exec */
void gt_guard_restore(void);
void gt_guard_begin(void);
void gt_guard_end(void);

#define GT_GUARD() (sigsetjmp(gt_guard_point, 0) ? false : (gt_guard_begin(), true))

#endif
