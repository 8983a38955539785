/* SPDX-License-Identifier: MIT */
/* Selects the table with the runtime's own functions, for calls that gputap makes. */
#include "runtime/opencl/activity.h"

static _Atomic(const struct gt_table *) core_table;

/* Return false for a table that contains only functions that programs looked up. */
static bool is_whole(const struct gt_table *table)
{
	static const unsigned needed[] = {
		GT_OPENCL_INDEX_clGetEventInfo,    GT_OPENCL_INDEX_clGetEventProfilingInfo,
		GT_OPENCL_INDEX_clRetainEvent,     GT_OPENCL_INDEX_clReleaseEvent,
		GT_OPENCL_INDEX_clGetDeviceInfo,   GT_OPENCL_INDEX_clGetKernelInfo,
		GT_OPENCL_INDEX_clGetContextInfo,  GT_OPENCL_INDEX_clGetCommandQueueInfo,
		GT_OPENCL_INDEX_clGetImageInfo,    GT_OPENCL_INDEX_clGetMemObjectInfo,
		GT_OPENCL_INDEX_clCreateUserEvent, GT_OPENCL_INDEX_clSetUserEventStatus,
	};

	for (unsigned i = 0; i < sizeof needed / sizeof needed[0]; i++)
		if (!table->taps[needed[i]].real)
			return false;
	return true;
}

const struct gt_table *gt_cl_table_find(const struct gt_call *call)
{
	const struct gt_table *known = atomic_load_explicit(&core_table, memory_order_relaxed);

	if (gt_likely(known == call->table))
		return known;
	if (is_whole(call->table)) {
		atomic_store_explicit(&core_table, call->table, memory_order_relaxed);
		return call->table;
	}
	return known;
}
