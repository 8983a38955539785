/* SPDX-License-Identifier: MIT */
/* Decides when this process is recorded. Contains the reasons to pause, and writes changes to the
 * segment. The process is recorded while none of three reasons to pause applies:
 *   the program   roctxProfilerPause(), gputap_pause()
 *   the session   for all its processes: gt_session.control, which the collector changes
 *   ranges        --from and --to, counted in each process (core/range_window.h)
 * context.c switches the taps; tool/tool_follow.c follows gt_session.control. */
#ifndef GPUTAP_CORE_PROCESS_PAUSES_H
#define GPUTAP_CORE_PROCESS_PAUSES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "ring/segment.h"
#include "ring/session.h"

enum gt_pause {
	GT_PAUSE_PROGRAM = 1,
	GT_PAUSE_SESSION = 2,
	GT_PAUSE_RANGES = 4,
};

/* Current reasons to pause (enum gt_pause); 0: the process is recorded. Changed with gt_core_lock()
 * held. */
extern _Atomic uint32_t gt_pause_reasons __attribute__((visibility("hidden")));

/* Twice the number of completed pauses, plus 1 during a pause. */
extern _Atomic uint32_t gt_pauses __attribute__((visibility("hidden")));

/* Nonzero if every call, requested or not, must reach gt_control_meet() (tool/tool_follow.h). */
extern _Atomic uint32_t gt_control_pending __attribute__((visibility("hidden")));

/* Set the initial state from the session, before the process's first segment is created. */
void gt_windows_init(const struct gt_session *session);

/* Write to a new segment that is not shared yet whether recording is paused, and why. @attached:
 * true if the process was not recorded before, because it was started without gputap. */
void gt_windows_begin(struct gt_segment *r, uint64_t ticks, bool attached);

/* Reset the ranges counted in the parent. Called in the child of a fork that has no segment yet.
 * Return value and locks: see gt_windows_change(). */
bool gt_windows_fork(const struct gt_session *session);

/**
 * gt_windows_change() - set or clear one of the three reasons
 * Return: true if this change starts or ends recording. The caller holds gt_core_lock(), and writes
 *         the change before it starts recording, or after it has ended recording.
 */
bool gt_windows_change(enum gt_pause who, bool paused, enum gt_window_why why);
/* Write a change of the recording state. @r: this process's segment; NULL: the process has no
 * segment. */
void gt_windows_write(struct gt_segment *r, enum gt_window_why why, bool recorded);

#endif
