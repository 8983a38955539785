/* SPDX-License-Identifier: MIT */
/* Profiling of queues is forced on where the program did not request it, invisibly to the program.
 *
 * The runtime gets the program's properties with CL_QUEUE_PROFILING_ENABLE added. If the runtime
 * refuses, it gets the properties unchanged, so that every error is the runtime's answer to the
 * program's own arguments. Queues on the device are left unchanged. clGetCommandQueueInfo() reports
 * the properties that the program requested. */
#include "runtime/opencl/activity_pending.h"

#include <string.h>

/* Creation ------------------------------------------------------------------ */

/* A call that creates a queue: the program's arguments, and the result. */
struct creation {
	cl_context context;
	cl_device_id device;
	cl_command_queue_properties asked;
	const cl_queue_properties *list; /* without the terminator; NULL: none */
	/* number of words including the terminator; 0: no list, or too long to store */
	unsigned list_count;
	bool forced;
	bool refused;
	const struct creation *outer; /* enclosing creating call of this thread */
};

static _Thread_local const struct creation *open_creation
	__attribute__((tls_model("initial-exec")));

/* Return false if the runtime itself makes this call inside a creating call of the program, which
 * has already changed the properties (attach_interposition.c). */
static bool begin_creation(struct creation *c)
{
	/* Skip calls that were left with longjmp(). They are at least as deep in the stack as this
	 * call. */
	while (open_creation && (uintptr_t)open_creation <= (uintptr_t)c)
		open_creation = open_creation->outer;
	c->outer = open_creation;
	if (c->outer && gt_skip_nested[GT_DOMAIN_OPENCL])
		return false;
	open_creation = c;
	return true;
}

static void end_creation(const struct gt_call *call, cl_command_queue handle,
			 const struct creation *c)
{
	const struct gt_table *table = gt_cl_table_find(call);
	struct gt_thread *t = gt_cl_thread_find(call);
	struct gt_cl_queue *q = gt_cl_queue_find(handle);

	open_creation = c->outer;
	if (!handle || (!q && (!t || !table || !(q = gt_cl_queue_add(t, handle)))))
		return;
	/* A reused handle that is not recorded now must not look like the previous queue. */
	if (!t || !table) {
		q->number = 0;
		q->forced = false;
		atomic_store_explicit(&q->written, 0, memory_order_release);
		return;
	}
	gt_cl_queue_harvest_all(q);
	atomic_store_explicit(&q->written, 0, memory_order_release);
	q->table = table;
	q->context = c->context;
	q->asked = c->asked;
	q->forced = c->forced;
	q->enabled_late = false;
	q->out_of_order = c->asked & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	q->untimed = !c->forced && !(c->asked & CL_QUEUE_PROFILING_ENABLE);
	q->list_count = (uint8_t)c->list_count;
	if (c->list_count)
		memcpy(q->list, c->list, c->list_count * sizeof q->list[0]);
	q->number = gt_object_number(GT_OBJECT_QUEUE);
	q->device = gt_cl_device_get(table, t, c->device);
	q->helped = q->device && !q->device->host;
	if (q->epoch != t->epoch)
		gt_cl_queue_reset(q, t->epoch);
	gt_internal_enter();
	gt_cl_queue_write(q, t);
	if (q->device)
		gt_cl_device_clock(q->device, t);
	gt_internal_leave();
	if (c->refused)
		gt_event_write(t, GT_EVENT_PROFILING, GT_DOMAIN_OPENCL, q->number,
			       "the runtime refused a queue with profiling");
	gt_cl_spare_grow(t->epoch);
	gt_cl_notify_queue(q);
}

static bool can_force(const struct gt_call *call, cl_command_queue_properties asked)
{
	return gt_cl_thread_find(call) && gt_cl_table_find(call) &&
	       !(asked & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE));
}

cl_command_queue gt_opencl_wrap_clCreateCommandQueue(const struct gt_call *call, cl_context context,
						     cl_device_id device,
						     cl_command_queue_properties properties,
						     cl_int *errcode_ret)
{
	struct creation c = {context, device, properties, NULL, 0, can_force(call, properties),
			     false,   NULL};
	cl_command_queue q = NULL;
	cl_int error = CL_SUCCESS;

	if (!begin_creation(&c))
		return GT_CL_REAL(call, clCreateCommandQueue)(context, device, properties,
							      errcode_ret);
	if (c.forced) {
		q = GT_CL_REAL(call, clCreateCommandQueue)(context, device,
							   properties | CL_QUEUE_PROFILING_ENABLE,
							   &error);
		if (q && errcode_ret)
			*errcode_ret = error;
	}
	if (!q) {
		q = GT_CL_REAL(call, clCreateCommandQueue)(context, device, properties,
							   errcode_ret);
		c.refused = c.forced && q;
		c.forced = false;
	}
	end_creation(call, q, &c);
	return q;
}

/* Add profiling to the program's list. Return false if the list does not fit or is not terminated
 * within the limit. */
static bool force_list(const cl_queue_properties *list, cl_queue_properties *out,
		       struct creation *c)
{
	cl_queue_properties *found = NULL;
	unsigned n = 0;

	for (; list && list[n]; n += 2) {
		if (n + 5 > GT_CL_PROPERTIES_MAX)
			return false;
		out[n] = list[n];
		out[n + 1] = list[n + 1];
		if (list[n] == CL_QUEUE_PROPERTIES && !found)
			found = &out[n + 1];
	}
	c->list = list;
	c->list_count = list ? n + 1 : 0;
	if (!found) {
		out[n++] = CL_QUEUE_PROPERTIES;
		found = &out[n];
		out[n++] = 0;
	}
	c->asked = *found;
	*found |= CL_QUEUE_PROFILING_ENABLE;
	out[n] = 0;
	return true;
}

/* Common type of both ..WithProperties functions. */
typedef cl_command_queue create_fn(cl_context, cl_device_id, const cl_queue_properties *, cl_int *);

static cl_command_queue create_with_list(const struct gt_call *call, create_fn *real,
					 cl_context context, cl_device_id device,
					 const cl_queue_properties *list, cl_int *errcode_ret)
{
	struct creation c = {context, device, 0, NULL, 0, false, false, NULL};
	cl_queue_properties forced[GT_CL_PROPERTIES_MAX];
	cl_command_queue q = NULL;
	cl_int error = CL_SUCCESS;
	bool known = force_list(list, forced, &c);

	if (!begin_creation(&c))
		return real(context, device, list, errcode_ret);
	if (known && can_force(call, c.asked)) {
		q = real(context, device, forced, &error);
		c.forced = q != NULL;
		if (q && errcode_ret)
			*errcode_ret = error;
	}
	if (!q) {
		q = real(context, device, list, errcode_ret);
		c.refused = q && !(c.asked & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE));
	}
	end_creation(call, q, &c);
	return q;
}

cl_command_queue gt_opencl_wrap_clCreateCommandQueueWithProperties(
	const struct gt_call *call, cl_context context, cl_device_id device,
	const cl_queue_properties *properties, cl_int *errcode_ret)
{
	return create_with_list(call, (create_fn *)call->tap->real, context, device, properties,
				errcode_ret);
}

cl_command_queue gt_opencl_wrap_clCreateCommandQueueWithPropertiesKHR(
	const struct gt_call *call, cl_context context, cl_device_id device,
	const cl_queue_properties_khr *properties, cl_int *errcode_ret)
{
	return create_with_list(call, (create_fn *)call->tap->real, context, device, properties,
				errcode_ret);
}

/* Queries ------------------------------------------------------------------- */

cl_command_queue gt_cl_queue_alike(const struct gt_cl_queue *q)
{
	cl_device_id device = (cl_device_id)(uintptr_t)q->device->node.handle;
	cl_int error;

	if (!q->list_count)
		return GT_CL(q->table, clCreateCommandQueue)(q->context, device, q->asked, &error);
	if (q->device->version < 200)
		return NULL;
	return GT_CL(q->table, clCreateCommandQueueWithProperties)(q->context, device, q->list,
								   &error);
}

/* Let the runtime answer a query, because answers differ: an empty list is one word long (PoCL) or
 * absent (NVIDIA), and on error the needed size is set (NVIDIA) or not. A queue is created with the
 * program's own list, queried, and released. Return false if the queue cannot be created. */
static bool ask_alike(const struct gt_cl_queue *q, size_t size, void *value, size_t *size_ret,
		      cl_int *ret)
{
	cl_command_queue alike;

	gt_internal_enter();
	alike = gt_cl_queue_alike(q);
	if (alike) {
		*ret = GT_CL(q->table, clGetCommandQueueInfo)(alike, CL_QUEUE_PROPERTIES_ARRAY,
							      size, value, size_ret);
		GT_CL(q->table, clReleaseCommandQueue)(alike);
	}
	gt_internal_leave();
	return alike != NULL;
}

/* Answer CL_QUEUE_PROPERTIES_ARRAY for a queue whose list was changed. The runtime is called first,
 * to check that it supports this query. */
static cl_int answer_list(const struct gt_call *call, const struct gt_cl_queue *q, size_t size,
			  void *value, size_t *size_ret)
{
	size_t bytes = q->list_count * sizeof q->list[0];
	cl_int ret =
		GT_CL_REAL(call, clGetCommandQueueInfo)((cl_command_queue)(uintptr_t)q->node.handle,
							CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, NULL);

	if (ret != CL_SUCCESS || (q->device && ask_alike(q, size, value, size_ret, &ret)))
		return ret;
	if (value && size < bytes)
		return CL_INVALID_VALUE;
	if (value && bytes)
		memcpy(value, q->list, bytes);
	if (size_ret)
		*size_ret = bytes;
	return CL_SUCCESS;
}

cl_int gt_opencl_wrap_clGetCommandQueueInfo(const struct gt_call *call, cl_command_queue handle,
					    cl_command_queue_info name, size_t size, void *value,
					    size_t *size_ret)
{
	/* gputap's own calls get the true value */
	struct gt_cl_queue *q = gt_thread.internal ? NULL : gt_cl_queue_find(handle);
	cl_command_queue_properties properties;
	cl_int ret;

	/* gputap's reference to an event may keep its queue alive. */
	if (q && name == CL_QUEUE_REFERENCE_COUNT)
		gt_cl_queue_harvest_all(q);
	if (q && q->forced && name == CL_QUEUE_PROPERTIES_ARRAY)
		return answer_list(call, q, size, value, size_ret);
	ret = GT_CL_REAL(call, clGetCommandQueueInfo)(handle, name, size, value, size_ret);
	if (ret == CL_SUCCESS && q && q->forced && name == CL_QUEUE_PROPERTIES && value &&
	    size >= sizeof properties) {
		memcpy(&properties, value, sizeof properties);
		properties &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
		memcpy(value, &properties, sizeof properties);
	}
	return ret;
}

/* Change a queue (OpenCL 1.0). Profiling stays on; only the reported properties change. */
cl_int gt_opencl_wrap_clSetCommandQueueProperty(const struct gt_call *call, cl_command_queue handle,
						cl_command_queue_properties properties,
						cl_bool enable, cl_command_queue_properties *old)
{
	struct gt_cl_queue *q = gt_cl_queue_find(handle);
	cl_int ret = GT_CL_REAL(call, clSetCommandQueueProperty)(handle, properties, enable, old);

	if (ret != CL_SUCCESS || !q)
		return ret;
	if (q->forced && old)
		*old &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
	if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
		q->out_of_order = enable;
	if (!(properties & CL_QUEUE_PROFILING_ENABLE))
		return ret;
	q->forced = !enable && gt_cl_thread_find(call) &&
		    GT_CL_REAL(call, clSetCommandQueueProperty)(handle, CL_QUEUE_PROFILING_ENABLE,
								CL_TRUE, NULL) == CL_SUCCESS;
	q->untimed = !enable && !q->forced;
	return ret;
}
