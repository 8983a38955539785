/* SPDX-License-Identifier: MIT */
/* External correlation ids: what the program or its framework was doing, two stacks a thread.
 * Each push and pop is a record; the reader gives every call the tops at its begin. */
#ifndef GPUTAP_CORE_EXTERNAL_H
#define GPUTAP_CORE_EXTERNAL_H

#include <stdint.h>

#include "core/thread.h"
#include "record/record.h"

enum { GT_EXTERNAL_DEPTH = 250 }; /* of one stack */

/* On the calling thread's stack. @t: its state, gt_thread_own(); NULL: nothing is recorded.
 * Return: 0, -ENOSPC: GT_EXTERNAL_DEPTH reached, the id is counted and not kept, -ENOMEM. Kept also
 * while nothing is recorded. */
int gt_external_push(struct gt_thread *t, enum gt_external_stack stack, uint64_t id);
/* Return: 0 and the id that was on top, -ENODATA: the stack is empty. */
int gt_external_pop(struct gt_thread *t, enum gt_external_stack stack, uint64_t *id);

/* What is on top of this thread's stacks; 0: nothing. */
void gt_external_tops(uint64_t tops[GT_EXTERNAL_STACK_COUNT]);

/* The thread has a new ring: say again what is on its stacks. */
void gt_external_renew(struct gt_thread *t);
void gt_external_release(struct gt_thread *t);

#endif
