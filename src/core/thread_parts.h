/* SPDX-License-Identifier: MIT */
/* Functions that thread.c uses to create a thread's state, from the lower-level files thread_ring.c
 * and thread_end.c. */
#ifndef GPUTAP_CORE_THREAD_PARTS_H
#define GPUTAP_CORE_THREAD_PARTS_H

#include "core/thread.h"

/* Reset the thread's state to a state without a slot. Memory of a former process is not touched. */
void gt_thread_forget(struct gt_thread *t);

/* Take a slot of this process's segment, ACTIVE, with the thread's name and start. If no slot is
 * free, return a private page that only counts records. NULL: out of memory. @tid 0: take the
 * calling thread and its name. */
struct gt_slot *gt_thread_take_slot(uint32_t tid, const char *name);
/* Release the slot when its thread ends. The slot must belong to this process. */
void gt_thread_give_slot(struct gt_slot *slot);

/* Arrange that gputap's resources are freed when the thread ends. */
void gt_thread_notice_end(struct gt_thread *t);

#endif
