/* SPDX-License-Identifier: MIT */
/* Wraps the enqueue functions for images: reads, writes, copies, fills, maps. object[]: source,
 * destination; global[]: region. */
#include "runtime/opencl/activity.h"

static void set_image_region(struct gt_cl_activity *w, cl_mem image, const size_t *region)
{
	size_t element = 0;

	gt_internal_enter();
	if (GT_CL(w->table, clGetImageInfo)(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element,
					    NULL) != CL_SUCCESS)
		element = 0;
	gt_internal_leave();
	gt_cl_set_region(w, region, element);
}

cl_int gt_opencl_wrap_clEnqueueReadImage(const struct gt_call *call, cl_command_queue queue,
					 cl_mem image, cl_bool blocking, const size_t *origin,
					 const size_t *region, size_t row_pitch, size_t slice_pitch,
					 void *ptr, cl_uint count, const cl_event *list,
					 cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)image, (uintptr_t)ptr}};
	cl_int ret = GT_CL_REAL(call, clEnqueueReadImage)(
		queue, image, blocking, origin, region, row_pitch, slice_pitch, ptr, count, list,
		gt_cl_activity_begin_early(call, queue, GT_DEVICE_READ, &w, event, blocking));

	if (ret == CL_SUCCESS && w.table)
		set_image_region(&w, image, region);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_READ, blocking, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueWriteImage(const struct gt_call *call, cl_command_queue queue,
					  cl_mem image, cl_bool blocking, const size_t *origin,
					  const size_t *region, size_t row_pitch,
					  size_t slice_pitch, const void *ptr, cl_uint count,
					  const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)ptr, (uintptr_t)image}};
	cl_int ret = GT_CL_REAL(call, clEnqueueWriteImage)(
		queue, image, blocking, origin, region, row_pitch, slice_pitch, ptr, count, list,
		gt_cl_activity_begin_early(call, queue, GT_DEVICE_WRITE, &w, event, blocking));

	if (ret == CL_SUCCESS && w.table)
		set_image_region(&w, image, region);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_WRITE, blocking, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueFillImage(const struct gt_call *call, cl_command_queue queue,
					 cl_mem image, const void *color, const size_t *origin,
					 const size_t *region, cl_uint count, const cl_event *list,
					 cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {0, (uintptr_t)image}};
	cl_int ret = GT_CL_REAL(call, clEnqueueFillImage)(
		queue, image, color, origin, region, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_FILL, &w, event));

	if (ret == CL_SUCCESS && w.table)
		set_image_region(&w, image, region);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_FILL, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueCopyImage(const struct gt_call *call, cl_command_queue queue,
					 cl_mem src, cl_mem dst, const size_t *src_origin,
					 const size_t *dst_origin, const size_t *region,
					 cl_uint count, const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)src, (uintptr_t)dst}};
	cl_int ret = GT_CL_REAL(call, clEnqueueCopyImage)(
		queue, src, dst, src_origin, dst_origin, region, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_COPY, &w, event));

	if (ret == CL_SUCCESS && w.table)
		set_image_region(&w, src, region);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_COPY, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueCopyImageToBuffer(const struct gt_call *call, cl_command_queue queue,
						 cl_mem src, cl_mem dst, const size_t *src_origin,
						 const size_t *region, size_t dst_offset,
						 cl_uint count, const cl_event *list,
						 cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)src, (uintptr_t)dst}};
	cl_int ret = GT_CL_REAL(call, clEnqueueCopyImageToBuffer)(
		queue, src, dst, src_origin, region, dst_offset, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_COPY, &w, event));

	if (ret == CL_SUCCESS && w.table)
		set_image_region(&w, src, region);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_COPY, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueCopyBufferToImage(const struct gt_call *call, cl_command_queue queue,
						 cl_mem src, cl_mem dst, size_t src_offset,
						 const size_t *dst_origin, const size_t *region,
						 cl_uint count, const cl_event *list,
						 cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)src, (uintptr_t)dst}};
	cl_int ret = GT_CL_REAL(call, clEnqueueCopyBufferToImage)(
		queue, src, dst, src_offset, dst_origin, region, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_COPY, &w, event));

	if (ret == CL_SUCCESS && w.table)
		set_image_region(&w, dst, region);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_COPY, false, &w, ret);
}

void *gt_opencl_wrap_clEnqueueMapImage(const struct gt_call *call, cl_command_queue queue,
				       cl_mem image, cl_bool blocking, cl_map_flags flags,
				       const size_t *origin, const size_t *region,
				       size_t *row_pitch, size_t *slice_pitch, cl_uint count,
				       const cl_event *list, cl_event *event, cl_int *errcode_ret)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)image}};
	cl_int own = CL_SUCCESS, *error = errcode_ret ? errcode_ret : &own;
	void *p = GT_CL_REAL(call, clEnqueueMapImage)(
		queue, image, blocking, flags, origin, region, row_pitch, slice_pitch, count, list,
		gt_cl_activity_begin_early(call, queue, GT_DEVICE_MAP, &w, event, blocking), error);

	w.what.object[1] = (uintptr_t)p;
	if (*error == CL_SUCCESS && w.table)
		set_image_region(&w, image, region);
	gt_cl_activity_follow(call, queue, GT_DEVICE_MAP, blocking, &w, *error);
	return p;
}
