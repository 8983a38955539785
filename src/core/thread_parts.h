/* SPDX-License-Identifier: MIT */
/* Functions that thread.c, which creates a thread's state, uses from the files below it:
 * thread_ring.c and thread_end.c. */
#ifndef GPUTAP_CORE_THREAD_PARTS_H
#define GPUTAP_CORE_THREAD_PARTS_H

#include "core/thread.h"

/* Reset the thread's state to one without a slot: memory of a former process is not touched. */
void gt_thread_forget(struct gt_thread *t);

/* Take a slot of this process's segment, ACTIVE, with the thread's name and start. If none is free,
 * return a private page, which only counts. NULL: no memory. @tid: 0: the calling thread's, and its
 * name */
struct gt_slot *gt_thread_take_slot(uint32_t tid, const char *name);
/* Release the slot when its thread ends; it must be this process's. */
void gt_thread_give_slot(struct gt_slot *slot);

/* Free gputap's resources when the thread ends. */
void gt_thread_notice_end(struct gt_thread *t);

#endif
