/* SPDX-License-Identifier: MIT */
/* Wraps the enqueue functions for kernels, tasks and native kernels. */
#include "runtime/opencl/activity.h"

enum { CALL_BYTES = 192 }; /* approximate size of a launch's record */

/* Set the global and local sizes. Call only after the runtime has accepted the command. */
static inline void set_range(struct gt_cl_what *what, cl_uint work_dim, const size_t *global,
			     const size_t *local)
{
	for (unsigned i = 0; i < 3; i++) {
		what->global[i] = 1;
		what->local[i] = local != NULL;
	}
	for (unsigned i = 0; i < work_dim && i < 3; i++) {
		if (global)
			what->global[i] = gt_saturate_u32(global[i]);
		if (local)
			what->local[i] = gt_saturate_u32(local[i]);
	}
}

cl_int gt_opencl_wrap_clEnqueueNDRangeKernel(const struct gt_call *call, cl_command_queue queue,
					     cl_kernel kernel, cl_uint work_dim,
					     const size_t *offset, const size_t *global,
					     const size_t *local, cl_uint count,
					     const cl_event *list, cl_event *event)
{
	/* gt_cl_activity_begin() sets the other members, because clearing the whole struct would
	 * take longer than the rest of this function. */
	struct gt_cl_activity w;
	cl_int ret;

	if (gt_likely(call->thread != NULL))
		gt_cl_fetch_ring(call->thread, 0, CALL_BYTES);
	w.what = (struct gt_cl_what){.object = {(uintptr_t)kernel}};
	w.unwanted = !gt_cl_kernel_wanted(call, kernel);
	if (gt_unlikely(w.unwanted) && !gt_tool_activity_asked(GT_DOMAIN_OPENCL))
		return GT_CL_REAL(call, clEnqueueNDRangeKernel)(queue, kernel, work_dim, offset,
								global, local, count, list, event);
	ret = GT_CL_REAL(call, clEnqueueNDRangeKernel)(
		queue, kernel, work_dim, offset, global, local, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_KERNEL, &w, event));
	if (gt_likely(ret == CL_SUCCESS && w.table)) {
		w.what.name = gt_cl_kernel_name(w.table, w.thread, kernel);
		set_range(&w.what, work_dim, global, local);
	}
	return gt_cl_activity_follow(call, queue, GT_DEVICE_KERNEL, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueTask(const struct gt_call *call, cl_command_queue queue,
				    cl_kernel kernel, cl_uint count, const cl_event *list,
				    cl_event *event)
{
	struct gt_cl_activity w = {
		.what = {.object = {(uintptr_t)kernel}, .global = {1, 1, 1}, .local = {1, 1, 1}}};
	cl_int ret;

	w.unwanted = !gt_cl_kernel_wanted(call, kernel);
	if (gt_unlikely(w.unwanted) && !gt_tool_activity_asked(GT_DOMAIN_OPENCL))
		return GT_CL_REAL(call, clEnqueueTask)(queue, kernel, count, list, event);
	ret = GT_CL_REAL(call, clEnqueueTask)(queue, kernel, count, list,
					      gt_cl_activity_begin(call, queue, GT_DEVICE_KERNEL,
								   &w, event));
	if (ret == CL_SUCCESS && w.table)
		w.what.name = gt_cl_kernel_name(w.table, w.thread, kernel);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_KERNEL, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueNativeKernel(const struct gt_call *call, cl_command_queue queue,
					    gt_cl_native_kernel function, void *args,
					    size_t args_bytes, cl_uint num_mem_objects,
					    const cl_mem *mem_list, const void **args_mem_loc,
					    cl_uint count, const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)function}};
	cl_int ret = GT_CL_REAL(call, clEnqueueNativeKernel)(
		queue, function, args, args_bytes, num_mem_objects, mem_list, args_mem_loc, count,
		list, gt_cl_activity_begin_early(call, queue, GT_DEVICE_NATIVE, &w, event, true));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_NATIVE, false, &w, ret);
}
