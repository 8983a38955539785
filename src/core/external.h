/* SPDX-License-Identifier: MIT */
/* External correlation ids: what the program or its framework was doing, in two stacks per thread.
 * Each push and pop is a record; the reader gives every call the tops at its start. */
#ifndef GPUTAP_CORE_EXTERNAL_H
#define GPUTAP_CORE_EXTERNAL_H

#include <stdint.h>

#include "core/thread.h"
#include "record/record.h"

enum { GT_EXTERNAL_DEPTH = 250 }; /* entries of one stack */

/* Notified of pushes and pops, in the pushing thread: vendors' plug-ins, which attach them to the
 * activities that the thread submits. Ids of ranges are numbered per thread, others come from the
 * program. NULL: none. */
enum gt_pushed { GT_PUSHED_RANGE = 0, GT_PUSHED_OPERATION, GT_PUSHED_USER };
extern struct gt_push_hooks {
	void (*_Atomic push)(enum gt_pushed what, uint64_t id);
	void (*_Atomic pop)(enum gt_pushed what);
	/* a framework is loaded, and will push: get ready, for a bounded time */
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

/* Push onto the calling thread's stack. @t: its state, gt_thread_own(); NULL: nothing is recorded.
 * Return 0, -ENOSPC: GT_EXTERNAL_DEPTH reached, the id is counted and not kept, -ENOMEM. The stack
 * is kept even while nothing is recorded. */
int gt_external_push(struct gt_thread *t, enum gt_external_stack stack, uint64_t id);
/* Return 0 and the id that was on top, -ENODATA: the stack is empty. */
int gt_external_pop(struct gt_thread *t, enum gt_external_stack stack, uint64_t *id);

/* Return the tops of this thread's stacks; 0: empty. */
void gt_external_tops(uint64_t tops[GT_EXTERNAL_STACK_COUNT]);

/* Write the thread's stacks again to a new ring. */
void gt_external_renew(struct gt_thread *t);
void gt_external_release(struct gt_thread *t);

#endif
