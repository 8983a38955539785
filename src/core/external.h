/* SPDX-License-Identifier: MIT */
/* External correlation ids: the current activity of the program or its framework, in two stacks per
 * thread. Each push and each pop is a record. The reader assigns to every call the top of each
 * stack at the start of the call. */
#ifndef GPUTAP_CORE_EXTERNAL_H
#define GPUTAP_CORE_EXTERNAL_H

#include <stdint.h>

#include "core/thread.h"
#include "record/record.h"

enum { GT_EXTERNAL_DEPTH = 250 }; /* entries per stack */

/* Hooks that the pushing thread calls at each push and pop. Vendors' plug-ins use the hooks to
 * attach the ids to the activities that the thread submits. Range ids are numbered per thread;
 * other ids come from the program. NULL: no hook. */
enum gt_pushed { GT_PUSHED_RANGE = 0, GT_PUSHED_OPERATION, GT_PUSHED_USER };
extern struct gt_push_hooks {
	void (*_Atomic push)(enum gt_pushed what, uint64_t id);
	void (*_Atomic pop)(enum gt_pushed what);
	/* called when a framework that will push ids is loaded; makes preparations, for a bounded
	 * time */
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

/* Push onto the calling thread's stack. @t: the thread's state from gt_thread_own(); NULL: nothing
 * is recorded. Return 0; -ENOSPC: the stack has GT_EXTERNAL_DEPTH entries, so the id is counted but
 * not stored; -ENOMEM. The stack is maintained even while nothing is recorded. */
int gt_external_push(struct gt_thread *t, enum gt_external_stack stack, uint64_t id);
/* Pop an id. Return 0 and the popped id; -ENODATA: the stack is empty. */
int gt_external_pop(struct gt_thread *t, enum gt_external_stack stack, uint64_t *id);

/* Return the top of each stack of this thread; 0: empty. */
void gt_external_tops(uint64_t tops[GT_EXTERNAL_STACK_COUNT]);

/* Write the thread's stacks to a new ring again. */
void gt_external_renew(struct gt_thread *t);
void gt_external_release(struct gt_thread *t);

#endif
