/* SPDX-License-Identifier: MIT */
/* See hsa_callbacks.h. */
#include "runtime/hsa/hsa_callbacks.h"

#include <signal.h>

/* Same limit as for a callback of a context that is being stopped. */
#define PATIENCE_NS (5000 * GT_HSA_MS)

/* Do step 1. */
static void begin_callback(struct gt_hsa_callbacks *c, struct gt_hsa_ring *ring,
			   struct gt_hsa_callback_guard *guard, struct gt_hsa_callback what)
{
	gt_hsa_ring_notify(ring); /* the device need not wait for the tool */
	c->current = what;
	c->current.guard = guard;
	guard->number = ++c->count;
	guard->callbacks = c;
	atomic_store_explicit(&c->running, guard->number, memory_order_release);
}

/* Do step 2. Return false if another thread has done it already. */
static bool end_callback(struct gt_hsa_callbacks *c, uint64_t number)
{
	return atomic_compare_exchange_strong_explicit(&c->running, &number, 0,
						       memory_order_acq_rel, memory_order_relaxed);
}

/* Stop waiting for the function. @left: true if the function will not return; false if it takes too
 * long, in which case its thread finishes the tool activity */
static bool interrupt_callback(struct gt_hsa_callbacks *c, uint64_t number, bool left)
{
	if (!end_callback(c, number))
		return false;
	c->interrupted = c->current;
	c->interrupted.left = left;
	return true;
}

bool gt_hsa_callbacks_enter(struct gt_hsa_callbacks *c, struct gt_hsa_ring *ring,
			    struct gt_tool_activity **tool_activity)
{
	struct gt_hsa_callback_guard guard;
	bool asked;

	begin_callback(c, ring, &guard,
		       (struct gt_hsa_callback){.tool_activity = *tool_activity, .enter = true});
	asked = gt_tool_activity_enter(*tool_activity);
	guard.callbacks = NULL;
	if (gt_unlikely(!end_callback(c, guard.number))) {
		if (asked) {
			gt_tool_activity_exit(*tool_activity);
			gt_tool_activity_drop(*tool_activity, false); /* already counted */
		}
		return false;
	}
	*tool_activity = asked ? *tool_activity : NULL;
	return true;
}

bool gt_hsa_callbacks_exit(struct gt_hsa_callbacks *c, struct gt_hsa_ring *ring,
			   struct gt_tool_activity *tool_activity, bool followed)
{
	struct gt_hsa_callback_guard guard;
	bool ours;

	begin_callback(c, ring, &guard,
		       (struct gt_hsa_callback){.tool_activity = tool_activity,
						.followed = followed});
	gt_tool_activity_exit(tool_activity);
	guard.callbacks = NULL;
	ours = end_callback(c, guard.number);
	if (!followed)
		gt_tool_activity_drop(tool_activity, true);
	return ours;
}

void gt_hsa_callbacks_resume_exit(struct gt_hsa_callbacks *c)
{
	const struct gt_hsa_callback was = c->interrupted;

	c->interrupted.tool_activity = NULL;
	if (!was.left)
		return; /* the thread that executes the function finishes the tool activity */
	gt_tool_activity_left(was.tool_activity);
	if (!was.followed)
		gt_tool_activity_drop(was.tool_activity, true);
}

struct gt_tool_activity *gt_hsa_callbacks_resume_enter(struct gt_hsa_callbacks *c)
{
	const struct gt_hsa_callback was = c->interrupted;

	c->interrupted.tool_activity = NULL;
	if (was.left) {
		gt_tool_activity_left(was.tool_activity);
		return was.tool_activity;
	}
	gt_tool_activity_abandon();
	return NULL;
}

/* Return true on an alternate signal stack, where frame addresses cannot be compared with those of
 * the thread's stack. */
static bool is_on_signal_stack(void)
{
	stack_t stack;

	return sigaltstack(NULL, &stack) == 0 && stack.ss_flags & SS_ONSTACK;
}

/* Do step 2 if the function was left: the guard's address is below the frame, or the guard was
 * overwritten. */
bool gt_hsa_callbacks_were_left(struct gt_hsa_callbacks *c, const void *frame)
{
	uint64_t number = atomic_load_explicit(&c->running, memory_order_acquire);
	const volatile struct gt_hsa_callback_guard *g = c->current.guard;

	return number &&
	       ((uintptr_t)g < (uintptr_t)frame || g->callbacks != c || g->number != number) &&
	       !is_on_signal_stack() && interrupt_callback(c, number, true);
}

bool gt_hsa_callbacks_take_over(struct gt_hsa_callbacks *c)
{
	uint64_t number = atomic_load_explicit(&c->running, memory_order_acquire),
		 now = gt_hsa_boottime_ns();

	if (number != c->seen) {
		c->seen = number;
		c->seen_since = now;
	}
	return number && now - c->seen_since >= PATIENCE_NS && interrupt_callback(c, number, false);
}
