/* SPDX-License-Identifier: MIT */
/* Notifies tools of OpenCL's commands. ENTER and EXIT come around the enqueue function: the queue
 * and the kind of command are known at ENTER, everything else at EXIT. COMPLETE comes in the helper
 * (tool/tool_activity.h).
 *
 * Times. The clock of a driver's time stamps is not documented. gputap determines the clock with
 * the first command whose QUEUED time stamp, interpreted in one of the host's clocks, lies between
 * its ENTER and its EXIT. If no clock fits, the QUEUED time stamp is mapped to ENTER, which is too
 * early by at most the duration of the call. */
#include "runtime/opencl/activity.h"

#include <errno.h>
#include <string.h>

#include "util/clock_ns.h"

#define TOLERANCE_NS 2000 /* for two host clocks that are read one after the other */

/* Innermost activity of this thread whose enqueue function has not returned. */
static _Thread_local struct gt_cl_activity *open_activity
	__attribute__((tls_model("initial-exec")));

/* Return true for a call that the runtime itself makes inside a call of the program (possible with
 * interposition; see attach_interposition.c). */
static bool is_nested(const struct gt_cl_activity *w)
{
	/* Skip calls that were left with longjmp(). They are at least as deep in the stack as this
	 * call. */
	while (open_activity && (uintptr_t)open_activity <= (uintptr_t)w)
		open_activity = open_activity->outer;
	return open_activity && gt_skip_nested[GT_DOMAIN_OPENCL];
}

void gt_cl_item_enter(const struct gt_call *call, cl_command_queue queue, enum gt_device_op op,
		      struct gt_cl_activity *w)
{
	struct gt_thread *t = call->thread ? call->thread : gt_thread_call(GT_DOMAIN_OPENCL);
	struct gt_tool_activity *tool_activity;
	struct gt_cl_queue *q;

	if (!t || !(gt_tool_activity_asked(GT_DOMAIN_OPENCL) & GPUTAP_ACTIVITY_BIT(op)) ||
	    is_nested(w) || !(tool_activity = gt_tool_activity_take(GT_DOMAIN_OPENCL, true)))
		return;
	q = gt_cl_queue_find(queue);
	tool_activity->dispatch = op == GT_DEVICE_KERNEL;
	tool_activity->activity.type = (enum gputap_activity_type)op;
	tool_activity->activity.queue = q ? q->number : 0;
	tool_activity->activity.queue_handle = (uintptr_t)queue;
	tool_activity->activity.device = q && q->device ? q->device->number : 0;
	tool_activity->activity.device_handle =
		q && q->device ? (uintptr_t)q->device->node.handle : 0;
	if (!gt_tool_activity_enter(tool_activity))
		return;
	w->tool_activity = tool_activity;
	w->thread = t;
	w->outer = open_activity;
	open_activity = w;
}

void gt_cl_item_leave(const struct gt_cl_activity *w)
{
	open_activity = w->outer;
}

void gt_cl_item_describe(struct gt_cl_activity *w, const struct gt_cl_queue *q,
			 enum gt_device_op op)
{
	struct gputap_activity *activity = &w->tool_activity->activity;

	w->tool_activity->left = gt_ticks_boottime();
	if (q) {
		activity->queue = q->number;
		activity->device = q->device ? q->device->number : 0;
		activity->device_handle = q->device ? (uintptr_t)q->device->node.handle : 0;
	}
	activity->name = w->what.name ? gt_string_text(w->what.name) : NULL;
	activity->bytes = w->what.bytes;
	activity->replay = w->what.replay;
	for (int i = 0; i < 3; i++) {
		activity->grid[i] = w->what.global[i];
		activity->group[i] = w->what.local[i];
	}
	if (op == GT_DEVICE_KERNEL) {
		activity->kernel = gt_cl_notify_kernel(w->table, w->thread,
						       (cl_kernel)(uintptr_t)w->what.object[0]);
		return;
	}
	activity->source = w->what.object[0];
	activity->destination = w->what.object[1];
}

/* Return the offset from the device's time stamps to CLOCK_BOOTTIME. @queued: time stamp of a
 * command enqueued between @entered and @left */
static int64_t offset_of(struct gt_cl_device *d, uint64_t queued, uint64_t entered, uint64_t left)
{
	static const clockid_t clocks[] = {CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
					   CLOCK_REALTIME};
	int known = d ? atomic_load_explicit(&d->notified_clock, memory_order_relaxed) - 1 : -1;

	for (int i = known >= 0 ? known : 0; i < 4; i++) {
		uint64_t boottime = gt_clock_ns(CLOCK_BOOTTIME);
		int64_t offset = (int64_t)(boottime - gt_clock_ns(clocks[i]));
		uint64_t at = queued + (uint64_t)offset;

		if (known < 0 && (at + TOLERANCE_NS < entered || at > left + TOLERANCE_NS))
			continue;
		if (d)
			atomic_store_explicit(&d->notified_clock, i + 1, memory_order_relaxed);
		return offset;
	}
	return (int64_t)(entered - queued);
}

void gt_cl_complete_tool_activity(struct gt_tool_activity *p, struct gt_cl_device *d, cl_int status,
				  const uint64_t times[4])
{
	int64_t offset;

	if (!times[0] || !times[3]) {
		gt_tool_activity_done(p, status < 0 ? status : -ENODATA, 0, 0);
		return;
	}
	offset = offset_of(d, times[0], p->began, p->left);
	gt_tool_activity_done(p, status < 0 ? status : 0, times[2] + (uint64_t)offset,
			      times[3] + (uint64_t)offset);
}
