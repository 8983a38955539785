/* SPDX-License-Identifier: MIT */
/* Follows the session's control: `gputap start`, `gputap stop` and other ways in which the
 * collector pauses recording in every process of the tree.
 *
 *   collector   gt_session.control = GT_CONTROL(), FUTEX_WAKE
 *                   │ shared memory, mapped read-only here
 *   process     a thread that gputap created sleeps in FUTEX_WAIT, and applies
 *               the word with gt_contexts_pause(GT_PAUSE_SESSION)
 *
 * A process that uses no runtime has no such thread. The thread starts
 *   - when a thread is attached (core/thread.c), because the process has made a recorded call;
 *   - in a pause, at the first call of any function, because all taps call gt_control_meet() while
 *     `gt_control_pending` is set. This covers a process that starts in a pause, and the child of a
 *     fork in a pause, which has only the thread that forked. (A child that clone() alone created
 *     in a pause is not recorded.)
 * The thread also ends recording where gputap was attached to a running program (core/late.h).
 * If the thread cannot be created, an event reports the failure and `gt_control_pending` stays set,
 * so each call checks the control word.
 * See also core/process_pauses.h. */
#ifndef GPUTAP_TOOL_FOLLOW_H
#define GPUTAP_TOOL_FOLLOW_H

/* Handle a call while `gt_control_pending` is set. Preserves errno. */
void gt_control_meet(void) __attribute__((cold));

/* Follow the session that this process has just joined (core/late.h): start the thread now. */
void gt_control_attach(void);
/* Wait, for at most two seconds, until the thread that followed an ended session has detached. */
void gt_control_wait_end(void);

#endif
