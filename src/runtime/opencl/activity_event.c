/* SPDX-License-Identifier: MIT */
/* Events as the program sees them: without our references, without the profiling that it did not ask for. gputap itself
 * sees what is (its own calls come here where a library in front of the loader is interposed).
 *
 * Which of several errors of one call a runtime gives differs between runtimes. So where the arguments are wrong as well,
 * the runtime is asked the same about an event that has no profiling either, a user event, and its answer is given. */
#include "runtime/opencl/activity.h"

#include <string.h>

static struct gt_cl_queue *queue_of(const struct gt_table *table, cl_event event)
{
	cl_command_queue handle = NULL;
	cl_int ret;

	if (!table || gt_thread.internal)
		return NULL;
	gt_internal_enter();
	ret = GT_CL(table, clGetEventInfo)(event, CL_EVENT_COMMAND_QUEUE, sizeof handle, &handle, NULL);
	gt_internal_leave();
	return ret == CL_SUCCESS && handle ? gt_cl_queue_find(handle) : NULL;
}

cl_int gt_opencl_wrap_clGetEventInfo(const struct gt_call *call, cl_event event, cl_event_info name, size_t size, void *value,
				     size_t *size_ret)
{
	struct gt_cl_queue *q = name == CL_EVENT_REFERENCE_COUNT && value ? queue_of(gt_cl_table(call), event) : NULL;
	cl_uint count, ours = 0;
	bool locked = false;
	cl_int ret;

	if (q)
		ours = gt_cl_event_references(q, event, &locked);
	if (locked)
		gt_internal_enter(); /* what the runtime calls meanwhile waits */
	ret = GT_CL_REAL(call, clGetEventInfo)(event, name, size, value, size_ret);
	if (locked) {
		gt_internal_leave();
		gt_cl_unlock(&q->harvest);
		gt_cl_callbacks_run();
	}
	if (ours && ret == CL_SUCCESS && size >= sizeof count) {
		memcpy(&count, value, sizeof count);
		count = count > ours ? count - ours : count;
		memcpy(value, &count, sizeof count);
	}
	return ret;
}

/* What this runtime says of an event without profiling, to these arguments. */
static cl_int ask_user_event(const struct gt_table *table, cl_event event, cl_profiling_info name, size_t size, void *value,
			     size_t *size_ret)
{
	cl_int ret = CL_PROFILING_INFO_NOT_AVAILABLE, error = CL_SUCCESS;
	cl_context context = NULL;
	cl_event probe = NULL;

	gt_internal_enter();
	if (GT_CL(table, clGetEventInfo)(event, CL_EVENT_CONTEXT, sizeof context, &context, NULL) == CL_SUCCESS && context)
		probe = GT_CL(table, clCreateUserEvent)(context, &error);
	if (probe && error == CL_SUCCESS) {
		ret = GT_CL(table, clGetEventProfilingInfo)(probe, name, size, value, size_ret);
		GT_CL(table, clSetUserEventStatus)(probe, CL_COMPLETE);
		GT_CL(table, clReleaseEvent)(probe);
	}
	gt_internal_leave();
	return ret;
}

cl_int gt_opencl_wrap_clGetEventProfilingInfo(const struct gt_call *call, cl_event event, cl_profiling_info name, size_t size,
					      void *value, size_t *size_ret)
{
	struct gt_cl_queue *q = queue_of(gt_cl_table(call), event);

	if (!q || !q->forced)
		return GT_CL_REAL(call, clGetEventProfilingInfo)(event, name, size, value, size_ret);
	if (name >= CL_PROFILING_COMMAND_QUEUED && name <= CL_PROFILING_COMMAND_END && (!value || size >= sizeof(cl_ulong)))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return ask_user_event(gt_cl_table(call), event, name, size, value, size_ret);
}
