/* SPDX-License-Identifier: MIT */
/* When this process is recorded: the reasons to pause, and the changes noted in the segment. There
 * are three reasons, and the process is recorded while none applies:
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

/* Current reasons, enum gt_pause; 0: it is recorded. Changed with gt_core_lock() held. */
extern _Atomic uint32_t gt_pause_reasons __attribute__((visibility("hidden")));

/* Twice the number of pauses so far, + 1 during a pause. */
extern _Atomic uint32_t gt_pauses __attribute__((visibility("hidden")));

/* Calls must reach gt_control_meet() (tool/tool_follow.h), requested or not. */
extern _Atomic uint32_t gt_control_pending __attribute__((visibility("hidden")));

/* Set the initial state from the session, before the process's first segment is created. */
void gt_windows_init(const struct gt_session *session);

/* Note in a new segment, not shared yet, whether recording is paused, and why. */
void gt_windows_begin(struct gt_segment *r, uint64_t ticks);

/* In a fork's child, without a segment yet: reset the ranges counted in its parent. Return value
 * and locks: as below. */
bool gt_windows_fork(const struct gt_session *session);

/**
 * gt_windows_change() - set or clear one of the three reasons
 * Return: true if recording starts or ends with this. The caller holds gt_core_lock(), and writes
 * the change before recording starts, or after it has ended.
 */
bool gt_windows_change(enum gt_pause who, bool paused, enum gt_window_why why);
/* Write a change. @r: this process's segment; NULL: it has none. */
void gt_windows_write(struct gt_segment *r, enum gt_window_why why, bool recorded);

#endif
