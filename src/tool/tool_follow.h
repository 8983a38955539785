/* SPDX-License-Identifier: MIT */
/* The session's control: `gputap start`, `stop`, and all else by which the collector pauses
 * recording in every process of the tree.
 *
 *   collector   gt_session.control = GT_CONTROL(..), FUTEX_WAKE
 *                   │ shared memory, mapped read-only here
 *   process     a thread of gputap's own sleeps in FUTEX_WAIT, and applies
 *               what the word says: gt_contexts_pause(GT_PAUSE_SESSION, ..)
 *
 * A process that uses no runtime has no such thread. Who starts it:
 *   - a thread that is attached, core/thread.c: the process has made a call that is recorded
 *   - where recording is paused, the first call of any function: `gt_control_pending` has all taps
 *     come to gt_control_meet(). So it is in a process that begins in a pause, and in the child of
 *     a fork in a pause, which has no threads but the one that forked. (A child that clone() made
 *     by itself in a pause is not recorded.)
 * Where the thread cannot be made, an event says so, and `gt_control_pending` stays: then each call
 * looks at the word.
 * Beneath: core/process_pauses.h. */
#ifndef GPUTAP_TOOL_FOLLOW_H
#define GPUTAP_TOOL_FOLLOW_H

/* A call while `gt_control_pending` is set. errno stays. */
void gt_control_meet(void) __attribute__((cold));

#endif
