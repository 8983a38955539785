/* SPDX-License-Identifier: MIT */
/* Wraps calls that wait, and calls that end queues and contexts. Completed commands are recorded
 * before such a call returns to the program. */
#include "runtime/opencl/activity.h"

cl_int gt_opencl_wrap_clReleaseCommandQueue(const struct gt_call *call, cl_command_queue handle)
{
	struct gt_cl_queue *q = gt_cl_queue_find(handle);

	if (q)
		gt_cl_queue_harvest_all(q);
	return GT_CL_REAL(call, clReleaseCommandQueue)(handle);
}

static void harvest_context(cl_context context)
{
	for (struct gt_cl_queue *q = gt_cl_queue_first(); q; q = q->next)
		if (q->context == context)
			gt_cl_queue_harvest_all(q);
}

cl_int gt_opencl_wrap_clReleaseContext(const struct gt_call *call, cl_context context)
{
	harvest_context(context);
	return GT_CL_REAL(call, clReleaseContext)(context);
}

cl_int gt_opencl_wrap_clGetContextInfo(const struct gt_call *call, cl_context context,
				       cl_context_info name, size_t size, void *value,
				       size_t *size_ret)
{
	if (name == CL_CONTEXT_REFERENCE_COUNT)
		harvest_context(context);
	return GT_CL_REAL(call, clGetContextInfo)(context, name, size, value, size_ret);
}

cl_int gt_opencl_wrap_clFinish(const struct gt_call *call, cl_command_queue handle)
{
	struct gt_cl_queue *q = gt_cl_queue_find(handle);
	cl_int ret;

	if (!q)
		return GT_CL_REAL(call, clFinish)(handle);
	atomic_fetch_add_explicit(&q->waiting, 1, memory_order_relaxed);
	ret = GT_CL_REAL(call, clFinish)(handle);
	atomic_fetch_sub_explicit(&q->waiting, 1, memory_order_relaxed);
	gt_cl_queue_harvest_all(q);
	return ret;
}

cl_int gt_opencl_wrap_clWaitForEvents(const struct gt_call *call, cl_uint count,
				      const cl_event *list)
{
	enum { ASKED_MOST = 64 }; /* the queues of further events are not queried */
	cl_int ret = GT_CL_REAL(call, clWaitForEvents)(count, list);
	const struct gt_table *table = gt_cl_table_find(call);
	struct gt_cl_queue *seen[ASKED_MOST];
	cl_uint seen_count = 0;

	if (!table || !gt_cl_thread_find(call) || !list ||
	    (ret != CL_SUCCESS && ret != CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST))
		return ret;
	if (count > ASKED_MOST) {
		for (struct gt_cl_queue *q = gt_cl_queue_first(); q; q = q->next)
			gt_cl_queue_harvest_all(q);
		return ret;
	}
	for (cl_uint i = 0; i < count; i++) {
		struct gt_cl_queue *q = gt_cl_queue_of_event(table, list[i]);
		bool is_new = q != NULL;

		for (cl_uint s = 0; s < seen_count; s++)
			is_new &= seen[s] != q;
		if (!is_new)
			continue;
		seen[seen_count++] = q;
		gt_cl_queue_harvest_waited(q, list, count);
	}
	return ret;
}
