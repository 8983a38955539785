/* SPDX-License-Identifier: MIT */
/* What thread.c, which makes a thread's state, takes from the files beneath it: thread_ring.c and
 * thread_end.c. */
#ifndef GPUTAP_CORE_THREAD_PARTS_H
#define GPUTAP_CORE_THREAD_PARTS_H

#include "core/thread.h"

/* The thread's own state becomes that of one which has no slot: nothing of a former process is
 * touched. */
void gt_thread_forget(struct gt_thread *t);

/* A slot of this process's segment, ACTIVE, with the thread's name and begin. Where none is free, a
 * page of the thread's own, which only counts. NULL: no memory. @tid: 0: the calling thread's, and
 * its name */
struct gt_slot *gt_thread_take_slot(uint32_t tid, const char *name);
/* The thread that had it ends; it is this process's. */
void gt_thread_give_slot(struct gt_slot *slot);

/* When the thread ends, what it has of ours goes. */
void gt_thread_notice_end(struct gt_thread *t);

#endif
