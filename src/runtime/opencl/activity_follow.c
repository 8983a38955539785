/* SPDX-License-Identifier: MIT */
/* Follows an enqueued command as an activity in flight, or counts the command as lost. Then
 * harvests or wakes the helper if necessary.
 *
 * After the real call, in the program's thread (gt_cl_activity_follow()):
 *   1. The thread counts the command as seen.
 *   2. The thread writes the command's entry at the tail of its queue's list (activity_pending.h).
 *   3. After a blocking call, the thread harvests this command. After any other call, the thread
 *      wakes the helper if the list was empty; if the list is long, it harvests completed commands
 *      well before this one.
 * Commands beyond a limit are not followed but counted. */
#include "runtime/opencl/activity_pending.h"

#include <stdlib.h>

enum { CAP_DEFAULT = 1 << 20 }; /* commands in flight per queue: 112 MiB */

const char gt_cl_no_event;

/* Return the maximum number of commands in flight, which tests can change. */
static uint32_t in_flight_max(void)
{
	static _Atomic uint32_t known;
	uint32_t n = atomic_load_explicit(&known, memory_order_relaxed);
	const char *text;

	if (gt_unlikely(!n)) {
		text = secure_getenv("GPUTAP_OPENCL_IN_FLIGHT");
		n = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
		n = n ? n : CAP_DEFAULT;
		atomic_store_explicit(&known, n, memory_order_relaxed);
	}
	return n;
}

static bool push_pending(struct gt_cl_queue *q, const struct gt_call *call, enum gt_device_op op,
			 const struct gt_cl_activity *w)
{
	uint32_t epoch = w->thread->epoch;
	struct gt_cl_pending *p = NULL;

	if (gt_unlikely(!gt_cl_queue_lock(&q->push, epoch)))
		return false;
	if (gt_likely(gt_cl_queue_count(q) < in_flight_max()))
		p = gt_cl_tail_entry(q, epoch);
	if (gt_likely(p != NULL)) {
		p->event = w->event;
		p->id = call->id;
		p->call_start = call->start;
		p->queue = q->number;
		p->device = GT_DEVICE_REF(GT_DOMAIN_OPENCL, q->device ? q->device->number : 0);
		p->op = (uint16_t)op;
		p->what = w->what;
		p->recorded = w->recorded;
		p->tool_activity = w->tool_activity;
		gt_cl_tail_commit(q);
	}
	gt_cl_lock_release(&q->push);
	return p != NULL;
}

/* Count a successful command that will not be followed. */
static void lose_command(struct gt_thread *t, const struct gt_cl_activity *w,
			 enum gt_drop_reason why)
{
	if (w->recorded)
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_OPENCL, why);
	if (w->event != GT_CL_NO_EVENT && w->event && (!w->wanted || w->retained))
		gt_cl_event_release(w->table, w->event);
}

/* Follow a command. Return false if that is not possible. */
static bool follow_command(const struct gt_call *call, struct gt_cl_queue *q, enum gt_device_op op,
			   struct gt_cl_activity *w)
{
	if (w->wanted && !w->retained && w->event != GT_CL_NO_EVENT && w->event)
		w->retained = gt_cl_event_retain(w->table, w->event);
	if (gt_unlikely(!q || w->event == GT_CL_NO_EVENT || !w->event ||
			(w->wanted && !w->retained))) {
		lose_command(w->thread, w, q ? GT_DROP_RUNTIME : GT_DROP_POOL);
	} else if (gt_unlikely(!push_pending(q, call, op, w))) {
		lose_command(w->thread, w, GT_DROP_POOL);
	} else {
		return true;
	}
	return false;
}

/* End the command's tool activity after the real call. @followed: true if the tool activity now
 * belongs to the harvest */
static void end_tool_activity(struct gt_cl_activity *w, cl_int ret, bool followed)
{
	gt_cl_item_leave(w);
	gt_tool_activity_exit(w->tool_activity);
	if (!followed)
		gt_tool_activity_drop(w->tool_activity, ret == CL_SUCCESS);
}

cl_int gt_cl_activity_follow(const struct gt_call *call, cl_command_queue handle,
			     enum gt_device_op op, bool blocking, struct gt_cl_activity *w,
			     cl_int ret)
{
	struct gt_cl_queue *q = NULL;
	bool followed = false;
	uint64_t count;

	if (gt_unlikely(!w->table)) {
		if (w->tool_activity)
			end_tool_activity(w, ret, false);
		return ret;
	}
	if (gt_unlikely(w->shown != NULL))
		gt_cl_shown_end(w, ret);
	if (gt_likely(ret == CL_SUCCESS)) {
		if (gt_likely(w->recorded))
			gt_device_seen(w->thread, GT_DOMAIN_OPENCL);
		q = gt_cl_queue_get(w->table, w->thread, handle);
		if (gt_unlikely(w->tool_activity != NULL))
			gt_cl_item_describe(w, q, op);
		followed = follow_command(call, q, op, w);
	}
	if (w->wanted && !w->shown && w->event != GT_CL_NO_EVENT)
		*w->wanted = w->event;
	if (gt_unlikely(w->tool_activity != NULL))
		end_tool_activity(w, ret, followed);
	if (gt_unlikely(!q))
		return ret;
	count = gt_cl_queue_count(q);
	if ((count == 1 && !blocking) || gt_unlikely(w->tool_activity != NULL))
		gt_cl_helper_want(w->thread);
	if (blocking)
		gt_cl_queue_harvest_waited(q, &w->event, 1);
	else if (gt_unlikely(count >= atomic_load_explicit(&q->look, memory_order_relaxed)))
		gt_cl_queue_harvest_behind(q);
	return ret;
}
