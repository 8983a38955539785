/* SPDX-License-Identifier: MIT */
/* Writes the object records of queues, and notifies tools of queues.
 *
 * A queue's entry is looked up by the queue's handle. If the runtime gives the handle to a new
 * queue, the new queue reuses the entry. Commands of the previous queue that are still in the list
 * have the previous queue's number. */
#include <stdio.h>

#include "runtime/opencl/activity_pending.h"
#include "runtime/opencl/opencl_attach.h"

GT_CL_MAP(queues, 10);
static _Atomic(struct gt_cl_queue *) all_queues;
/* Ensures that two threads that find an existing queue at the same time create only one entry for
 * it. */
static struct gt_cl_lock learning;

struct gt_cl_queue *gt_cl_queue_first(void)
{
	return atomic_load_explicit(&all_queues, memory_order_acquire);
}

struct gt_cl_queue *gt_cl_queue_find(cl_command_queue handle)
{
	return gt_cl_map_find(&queues, handle);
}

struct gt_cl_queue *gt_cl_queue_add(struct gt_thread *t, cl_command_queue handle)
{
	struct gt_cl_queue *q = gt_cl_memory_take(t->epoch, sizeof *q), *first;

	if (!q)
		return NULL;
	gt_cl_map_add(&queues, &q->node, handle);
	first = atomic_load_explicit(&all_queues, memory_order_relaxed);
	do {
		q->next = first;
	} while (!atomic_compare_exchange_weak_explicit(&all_queues, &first, q,
							memory_order_release,
							memory_order_relaxed));
	return q;
}

/* Write properties as text, for readers of the capture. */
void gt_cl_queue_write(struct gt_cl_queue *q, struct gt_thread *t)
{
	struct gt_text text = {0};
	uint64_t context;

	if (q->device && !gt_cl_device_is_asked(q->device))
		return; /* will be written at the queue's first activity */
	context = gt_cl_context_number(q->table, t, q->context);
	gt_text_add(&text, "properties",
		    q->asked & CL_QUEUE_ON_DEVICE ? "on_device"
		    : q->out_of_order && q->asked & CL_QUEUE_PROFILING_ENABLE
			    ? "out_of_order profiling"
		    : q->out_of_order                      ? "out_of_order"
		    : q->asked & CL_QUEUE_PROFILING_ENABLE ? "profiling"
							   : "");
	gt_text_add(&text, "profiling", q->forced ? "forced" : q->untimed ? "off" : "asked");
	gt_text_add_number(&text, "context", context);
	if (gt_object_write(t, GT_OBJECT_QUEUE, GT_DOMAIN_OPENCL, q->number,
			    (uintptr_t)q->node.handle, q->device ? q->device->number : 0, &text))
		atomic_store_explicit(&q->written, t->epoch, memory_order_release);
}

/* Query a queue whose creation was not observed. The runtime then reports the properties that the
 * program requested. */
static void learn_queue(struct gt_cl_queue *q, const struct gt_table *table, struct gt_thread *t,
			cl_command_queue handle)
{
	cl_device_id device = NULL;
	cl_context context = NULL;

	q->table = table;
	q->forced = false;
	q->list_count = 0;
	if (GT_CL(table, clGetCommandQueueInfo)(handle, CL_QUEUE_DEVICE, sizeof device, &device,
						NULL) == CL_SUCCESS)
		q->device = gt_cl_device_get(table, t, device);
	q->helped = q->device && !q->device->host;
	GT_CL(table, clGetCommandQueueInfo)
	(handle, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
	q->context = context;
	GT_CL(table, clGetCommandQueueInfo)
	(handle, CL_QUEUE_PROPERTIES, sizeof q->asked, &q->asked, NULL);
	q->out_of_order = q->asked & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	q->untimed = !(q->asked & CL_QUEUE_PROFILING_ENABLE);
	q->number = gt_object_number(GT_OBJECT_QUEUE);
}

void gt_cl_queue_name_untimed(const struct gt_cl_queue *q)
{
	char what[96];

	snprintf(what, sizeof what,
		 "times of queue %p: created before gputap attached, without profiling",
		 q->node.handle);
	gt_late_missing(GT_DOMAIN_OPENCL, what);
}

/* Turn on the profiling of a queue that was created before gputap attached. Drivers after OpenCL
 * 1.0 usually refuse. */
static bool enable_profiling(const struct gt_table *table, cl_command_queue handle)
{
	cl_command_queue_properties now = 0;

	return gt_opencl_tables_function(handle, GT_OPENCL_clSetCommandQueueProperty) &&
	       GT_CL(table, clSetCommandQueueProperty)(handle, CL_QUEUE_PROFILING_ENABLE, CL_TRUE,
						       NULL) == CL_SUCCESS &&
	       GT_CL(table, clGetCommandQueueInfo)(handle, CL_QUEUE_PROPERTIES, sizeof now, &now,
						   NULL) == CL_SUCCESS &&
	       now & CL_QUEUE_PROFILING_ENABLE;
}

/* Get the times of a queue that was created before gputap attached, or name the queue. */
static void time_old_queue(struct gt_cl_queue *q, const struct gt_table *table,
			   cl_command_queue handle)
{
	if (!q->untimed || !gt_is_late() || q->asked & CL_QUEUE_ON_DEVICE)
		return;
	if (enable_profiling(table, handle)) {
		q->forced = q->enabled_late = true;
		q->untimed = false;
		return;
	}
	gt_cl_queue_name_untimed(q);
}

static bool is_known_queue(const struct gt_cl_queue *q, const struct gt_thread *t)
{
	return q && atomic_load_explicit(&q->written, memory_order_acquire) == t->epoch;
}

/* Return the entry of a queue. The caller must hold `learning`, unless the lock could not be
 * taken. */
static struct gt_cl_queue *know_queue(const struct gt_table *table, struct gt_thread *t,
				      cl_command_queue handle)
{
	struct gt_cl_queue *q = gt_cl_map_find(&queues, handle);
	bool asked;

	if (is_known_queue(q, t) || (!q && !(q = gt_cl_queue_add(t, handle))))
		return q;
	if (q->epoch != t->epoch)
		gt_cl_queue_reset(q, t->epoch);
	if (!q->number)
		learn_queue(q, table, t, handle);
	asked = q->device && gt_cl_device_is_asked(q->device);
	if (q->device)
		gt_cl_device_get(table, t, (cl_device_id)(uintptr_t)q->device->node.handle);
	if (q->device && !asked)
		q->helped = !q->device->host;
	time_old_queue(q, table, handle);
	gt_cl_queue_write(q, t);
	return q;
}

void gt_cl_notify_queue(struct gt_cl_queue *q)
{
	struct gt_cl_device *d = q->device;
	const struct gputap_object o = {
		.domain = GPUTAP_DOMAIN_OPENCL,
		.type = GPUTAP_OBJECT_QUEUE,
		.number = q->number,
		.parent = d ? d->number : 0,
		.handle = (uintptr_t)q->node.handle,
		.device_handle = d ? (uintptr_t)d->node.handle : 0,
		.storage_file = -1,
	};

	if (d && !gt_cl_device_is_asked(d))
		return;
	if (d)
		gt_cl_notify_device(d);
	if (atomic_exchange_explicit(&q->notified_number, q->number, memory_order_acq_rel) ==
	    q->number)
		return;
	/* The object of the previous queue with this handle is unloaded only now, because only the
	 * runtime knows when a queue ends. */
	gt_tool_object_unload(q->object);
	q->object = gt_tool_object_add(&o, NULL);
	gt_tool_object_loaded(q->object);
}

static __attribute__((noinline, cold)) struct gt_cl_queue *meet_queue(const struct gt_table *table,
								      struct gt_thread *t,
								      cl_command_queue handle)
{
	struct gt_cl_queue *q;
	bool locked;

	gt_internal_enter();
	locked = gt_cl_lock_take(&learning, t->epoch);
	q = know_queue(table, t, handle);
	if (locked)
		gt_cl_lock_release(&learning);
	gt_internal_leave();
	if (q)
		gt_cl_notify_queue(q);
	return q;
}

struct gt_cl_queue *gt_cl_queue_get(const struct gt_table *table, struct gt_thread *t,
				    cl_command_queue handle)
{
	struct gt_cl_queue *q = gt_cl_map_find(&queues, handle);

	return gt_likely(is_known_queue(q, t)) ? q : meet_queue(table, t, handle);
}

void gt_cl_queue_meet_old(const struct gt_table *table, struct gt_thread *t,
			  cl_command_queue handle)
{
	cl_device_id device;
	cl_int ret;

	if (!handle || is_known_queue(gt_cl_map_find(&queues, handle), t))
		return;
	gt_internal_enter();
	ret = GT_CL(table, clGetCommandQueueInfo)(handle, CL_QUEUE_DEVICE, sizeof device, &device,
						  NULL);
	gt_internal_leave();
	if (ret == CL_SUCCESS)
		meet_queue(table, t, handle);
}

struct gt_cl_queue *gt_cl_queue_of_event(const struct gt_table *table, cl_event event)
{
	cl_command_queue handle = NULL;
	cl_int ret;

	if (!table || gt_thread.internal)
		return NULL;
	gt_internal_enter();
	ret = GT_CL(table, clGetEventInfo)(event, CL_EVENT_COMMAND_QUEUE, sizeof handle, &handle,
					   NULL);
	gt_internal_leave();
	return ret == CL_SUCCESS && handle ? gt_cl_map_find(&queues, handle) : NULL;
}
