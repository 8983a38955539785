/* SPDX-License-Identifier: MIT */
/* Wraps the enqueue functions for buffers: reads, writes, copies, fills, maps. object[]: source,
 * destination. */
#include "runtime/opencl/activity.h"

cl_int gt_opencl_wrap_clEnqueueReadBuffer(const struct gt_call *call, cl_command_queue queue,
					  cl_mem buffer, cl_bool blocking, size_t offset,
					  size_t size, void *ptr, cl_uint count,
					  const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {
		.what = {.bytes = size, .object = {(uintptr_t)buffer, (uintptr_t)ptr}}};
	cl_int ret = GT_CL_REAL(call, clEnqueueReadBuffer)(
		queue, buffer, blocking, offset, size, ptr, count, list,
		gt_cl_activity_begin_early(call, queue, GT_DEVICE_READ, &w, event, blocking));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_READ, blocking, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueWriteBuffer(const struct gt_call *call, cl_command_queue queue,
					   cl_mem buffer, cl_bool blocking, size_t offset,
					   size_t size, const void *ptr, cl_uint count,
					   const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {
		.what = {.bytes = size, .object = {(uintptr_t)ptr, (uintptr_t)buffer}}};
	cl_int ret = GT_CL_REAL(call, clEnqueueWriteBuffer)(
		queue, buffer, blocking, offset, size, ptr, count, list,
		gt_cl_activity_begin_early(call, queue, GT_DEVICE_WRITE, &w, event, blocking));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_WRITE, blocking, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueCopyBuffer(const struct gt_call *call, cl_command_queue queue,
					  cl_mem src, cl_mem dst, size_t src_offset,
					  size_t dst_offset, size_t size, cl_uint count,
					  const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {
		.what = {.bytes = size, .object = {(uintptr_t)src, (uintptr_t)dst}}};
	cl_int ret = GT_CL_REAL(call, clEnqueueCopyBuffer)(
		queue, src, dst, src_offset, dst_offset, size, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_COPY, &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_COPY, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueReadBufferRect(const struct gt_call *call, cl_command_queue queue,
					      cl_mem buffer, cl_bool blocking,
					      const size_t *buffer_origin,
					      const size_t *host_origin, const size_t *region,
					      size_t buffer_row, size_t buffer_slice,
					      size_t host_row, size_t host_slice, void *ptr,
					      cl_uint count, const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)buffer, (uintptr_t)ptr}};
	cl_int ret = GT_CL_REAL(call, clEnqueueReadBufferRect)(
		queue, buffer, blocking, buffer_origin, host_origin, region, buffer_row,
		buffer_slice, host_row, host_slice, ptr, count, list,
		gt_cl_activity_begin_early(call, queue, GT_DEVICE_READ, &w, event, blocking));

	if (ret == CL_SUCCESS)
		gt_cl_set_region(&w, region, 1);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_READ, blocking, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueWriteBufferRect(const struct gt_call *call, cl_command_queue queue,
					       cl_mem buffer, cl_bool blocking,
					       const size_t *buffer_origin,
					       const size_t *host_origin, const size_t *region,
					       size_t buffer_row, size_t buffer_slice,
					       size_t host_row, size_t host_slice, const void *ptr,
					       cl_uint count, const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)ptr, (uintptr_t)buffer}};
	cl_int ret = GT_CL_REAL(call, clEnqueueWriteBufferRect)(
		queue, buffer, blocking, buffer_origin, host_origin, region, buffer_row,
		buffer_slice, host_row, host_slice, ptr, count, list,
		gt_cl_activity_begin_early(call, queue, GT_DEVICE_WRITE, &w, event, blocking));

	if (ret == CL_SUCCESS)
		gt_cl_set_region(&w, region, 1);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_WRITE, blocking, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueCopyBufferRect(const struct gt_call *call, cl_command_queue queue,
					      cl_mem src, cl_mem dst, const size_t *src_origin,
					      const size_t *dst_origin, const size_t *region,
					      size_t src_row, size_t src_slice, size_t dst_row,
					      size_t dst_slice, cl_uint count, const cl_event *list,
					      cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)src, (uintptr_t)dst}};
	cl_int ret = GT_CL_REAL(call, clEnqueueCopyBufferRect)(
		queue, src, dst, src_origin, dst_origin, region, src_row, src_slice, dst_row,
		dst_slice, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_COPY, &w, event));

	if (ret == CL_SUCCESS)
		gt_cl_set_region(&w, region, 1);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_COPY, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueFillBuffer(const struct gt_call *call, cl_command_queue queue,
					  cl_mem buffer, const void *pattern, size_t pattern_size,
					  size_t offset, size_t size, cl_uint count,
					  const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what = {.bytes = size, .object = {0, (uintptr_t)buffer}}};
	cl_int ret = GT_CL_REAL(call, clEnqueueFillBuffer)(
		queue, buffer, pattern, pattern_size, offset, size, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_FILL, &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_FILL, false, &w, ret);
}

void *gt_opencl_wrap_clEnqueueMapBuffer(const struct gt_call *call, cl_command_queue queue,
					cl_mem buffer, cl_bool blocking, cl_map_flags flags,
					size_t offset, size_t size, cl_uint count,
					const cl_event *list, cl_event *event, cl_int *errcode_ret)
{
	struct gt_cl_activity w = {.what = {.bytes = size, .object = {(uintptr_t)buffer}}};
	cl_int own = CL_SUCCESS, *error = errcode_ret ? errcode_ret : &own;
	void *p = GT_CL_REAL(call, clEnqueueMapBuffer)(
		queue, buffer, blocking, flags, offset, size, count, list,
		gt_cl_activity_begin_early(call, queue, GT_DEVICE_MAP, &w, event, blocking), error);

	w.what.object[1] = (uintptr_t)p;
	gt_cl_activity_follow(call, queue, GT_DEVICE_MAP, blocking, &w, *error);
	return p;
}

cl_int gt_opencl_wrap_clEnqueueUnmapMemObject(const struct gt_call *call, cl_command_queue queue,
					      cl_mem object, void *mapped, cl_uint count,
					      const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)mapped, (uintptr_t)object}};
	cl_int ret = GT_CL_REAL(call, clEnqueueUnmapMemObject)(queue, object, mapped, count, list,
							       gt_cl_activity_begin(call, queue,
										    GT_DEVICE_UNMAP,
										    &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_UNMAP, false, &w, ret);
}
