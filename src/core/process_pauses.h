/* SPDX-License-Identifier: MIT */
/* When this process is recorded: who pauses it, and what the segment says of each change. Three may
 * pause it, and it is recorded while none does:
 *   the program   roctxProfilerPause(), gputap_pause()
 *   the session   for all its processes: gt_session.control, which the collector changes
 *   ranges        --from and --to, counted in each process (core/range_window.h)
 * context.c switches the taps; tool/tool_follow.c follows the session's word. */
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

/* Who pauses it, enum gt_pause; 0: it is recorded. Changed with gt_core_lock() held. */
extern _Atomic uint32_t gt_pause_reasons __attribute__((visibility("hidden")));

/* Twice how often recording has paused, + 1 while it does. */
extern _Atomic uint32_t gt_pauses __attribute__((visibility("hidden")));

/* Calls have to come to gt_control_meet() (tool/tool_follow.h), asked for or not. */
extern _Atomic uint32_t gt_control_pending __attribute__((visibility("hidden")));

/* Before the process's first segment is made: how the session wants it to begin. */
void gt_windows_init(const struct gt_session *session);

/* A new segment, that nobody else writes to: says if recording is paused, and why. */
void gt_windows_begin(struct gt_segment *r, uint64_t ticks);

/* In a fork's child, which has no segment yet: the ranges of its parent are not its own. Return,
 * locks: as below. */
bool gt_windows_fork(const struct gt_session *session);

/**
 * gt_windows_change() - one of the three pauses, or does so no longer
 * Return: recording begins or ends by that. The caller holds gt_core_lock(), and
 * writes it down before recording begins, after it has ended.
 */
bool gt_windows_change(enum gt_pause who, bool paused, enum gt_window_why why);
/* @r: this process's; NULL: it has none. */
void gt_windows_write(struct gt_segment *r, enum gt_window_why why, bool recorded);

#endif
