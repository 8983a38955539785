/* SPDX-License-Identifier: MIT */
/* External correlation ids: what the program or its framework was doing, two stacks a thread.
 * Each push and pop is a record; the reader gives every call the tops at its begin. */
#ifndef GPUTAP_CORE_EXTERNAL_H
#define GPUTAP_CORE_EXTERNAL_H

#include <stdint.h>

#include "core/thread.h"
#include "record/record.h"

enum { GT_EXTERNAL_DEPTH = 250 }; /* of one stack */

/* Notified of what is pushed and popped, in the pushing thread: vendors' plug-ins, which note it
 * with the work that the thread submits. A range has a number of its thread's, others have the
 * program's. NULL: nobody. */
enum gt_pushed { GT_PUSHED_RANGE = 0, GT_PUSHED_OPERATION, GT_PUSHED_USER };
extern struct gt_push_hooks {
	void (*_Atomic push)(enum gt_pushed what, uint64_t id);
	void (*_Atomic pop)(enum gt_pushed what);
	/* a framework is there, and will push: get ready, for a bounded time */
	void (*_Atomic prepare)(void);
} gt_push_hooks __attribute__((visibility("hidden")));

static inline void gt_push_notify(enum gt_pushed what, uint64_t id)
{
	void (*push)(enum gt_pushed, uint64_t) =
		atomic_load_explicit(&gt_push_hooks.push, memory_order_acquire);

	if (gt_unlikely(push != NULL))
		push(what, id);
}

static inline void gt_pop_notify(enum gt_pushed what)
{
	void (*pop)(enum gt_pushed) =
		atomic_load_explicit(&gt_push_hooks.pop, memory_order_acquire);

	if (gt_unlikely(pop != NULL))
		pop(what);
}

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
