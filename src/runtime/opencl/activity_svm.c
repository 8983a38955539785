/* SPDX-License-Identifier: MIT */
/* Wraps the functions for shared virtual memory and unified shared memory: core, Arm's and Intel's
 * functions. object[]: source and destination address. It is not known which side of a copy is host
 * memory, so all copies have the kind GT_DEVICE_COPY.
 *
 * The core, Arm and Intel variants of a function differ only in their names. One function does the
 * work, and a wrap for each name calls it. */
#include "runtime/opencl/activity.h"

static uint64_t sum_sizes(cl_uint count, const size_t *sizes)
{
	uint64_t bytes = 0;

	for (cl_uint i = 0; sizes && i < count; i++)
		bytes += sizes[i];
	return bytes;
}

typedef cl_int free_fn(cl_command_queue queue, cl_uint num, void **pointers,
		       gt_cl_svm_free function, void *user_data, cl_uint count,
		       const cl_event *list, cl_event *event);

static cl_int free_pointers(const struct gt_call *call, free_fn *real, cl_command_queue queue,
			    cl_uint num, void **pointers, gt_cl_svm_free function, void *user_data,
			    cl_uint count, const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.global = {num}};
	const struct gt_cl_svm_callback f = gt_cl_svm_callback_make(call, function, user_data);
	cl_int ret = real(queue, num, pointers, f.function, f.user, count, list,
			  gt_cl_activity_begin_early(call, queue, GT_DEVICE_OTHER, &w, event,
						     f.function));

	if (ret != CL_SUCCESS)
		gt_cl_svm_callback_drop(&f);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_OTHER, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueSVMFree(const struct gt_call *call, cl_command_queue queue,
				       cl_uint num, void **pointers, gt_cl_svm_free function,
				       void *user_data, cl_uint count, const cl_event *list,
				       cl_event *event)
{
	return free_pointers(call, GT_CL_REAL(call, clEnqueueSVMFree), queue, num, pointers,
			     function, user_data, count, list, event);
}

cl_int gt_opencl_wrap_clEnqueueSVMFreeARM(const struct gt_call *call, cl_command_queue queue,
					  cl_uint num, void **pointers, gt_cl_svm_free function,
					  void *user_data, cl_uint count, const cl_event *list,
					  cl_event *event)
{
	return free_pointers(call, GT_CL_REAL(call, clEnqueueSVMFreeARM), queue, num, pointers,
			     function, user_data, count, list, event);
}

typedef cl_int copy_fn(cl_command_queue queue, cl_bool blocking, void *dst, const void *src,
		       size_t size, cl_uint count, const cl_event *list, cl_event *event);

static cl_int copy_memory(const struct gt_call *call, copy_fn *real, cl_command_queue queue,
			  cl_bool blocking, void *dst, const void *src, size_t size, cl_uint count,
			  const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {
		.what = {.bytes = size, .object = {(uintptr_t)src, (uintptr_t)dst}}};
	cl_int ret =
		real(queue, blocking, dst, src, size, count, list,
		     gt_cl_activity_begin_early(call, queue, GT_DEVICE_COPY, &w, event, blocking));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_COPY, blocking, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueSVMMemcpy(const struct gt_call *call, cl_command_queue queue,
					 cl_bool blocking, void *dst, const void *src, size_t size,
					 cl_uint count, const cl_event *list, cl_event *event)
{
	return copy_memory(call, GT_CL_REAL(call, clEnqueueSVMMemcpy), queue, blocking, dst, src,
			   size, count, list, event);
}

cl_int gt_opencl_wrap_clEnqueueSVMMemcpyARM(const struct gt_call *call, cl_command_queue queue,
					    cl_bool blocking, void *dst, const void *src,
					    size_t size, cl_uint count, const cl_event *list,
					    cl_event *event)
{
	return copy_memory(call, GT_CL_REAL(call, clEnqueueSVMMemcpyARM), queue, blocking, dst, src,
			   size, count, list, event);
}

cl_int gt_opencl_wrap_clEnqueueMemcpyINTEL(const struct gt_call *call, cl_command_queue queue,
					   cl_bool blocking, void *dst, const void *src,
					   size_t size, cl_uint count, const cl_event *list,
					   cl_event *event)
{
	return copy_memory(call, GT_CL_REAL(call, clEnqueueMemcpyINTEL), queue, blocking, dst, src,
			   size, count, list, event);
}

typedef cl_int fill_fn(cl_command_queue queue, void *dst, const void *pattern, size_t pattern_size,
		       size_t size, cl_uint count, const cl_event *list, cl_event *event);

static cl_int fill_memory(const struct gt_call *call, fill_fn *real, cl_command_queue queue,
			  void *dst, const void *pattern, size_t pattern_size, size_t size,
			  cl_uint count, const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what = {.bytes = size, .object = {0, (uintptr_t)dst}}};
	cl_int ret = real(queue, dst, pattern, pattern_size, size, count, list,
			  gt_cl_activity_begin(call, queue, GT_DEVICE_FILL, &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_FILL, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueSVMMemFill(const struct gt_call *call, cl_command_queue queue,
					  void *dst, const void *pattern, size_t pattern_size,
					  size_t size, cl_uint count, const cl_event *list,
					  cl_event *event)
{
	return fill_memory(call, GT_CL_REAL(call, clEnqueueSVMMemFill), queue, dst, pattern,
			   pattern_size, size, count, list, event);
}

cl_int gt_opencl_wrap_clEnqueueSVMMemFillARM(const struct gt_call *call, cl_command_queue queue,
					     void *dst, const void *pattern, size_t pattern_size,
					     size_t size, cl_uint count, const cl_event *list,
					     cl_event *event)
{
	return fill_memory(call, GT_CL_REAL(call, clEnqueueSVMMemFillARM), queue, dst, pattern,
			   pattern_size, size, count, list, event);
}

cl_int gt_opencl_wrap_clEnqueueMemFillINTEL(const struct gt_call *call, cl_command_queue queue,
					    void *dst, const void *pattern, size_t pattern_size,
					    size_t size, cl_uint count, const cl_event *list,
					    cl_event *event)
{
	return fill_memory(call, GT_CL_REAL(call, clEnqueueMemFillINTEL), queue, dst, pattern,
			   pattern_size, size, count, list, event);
}

typedef cl_int map_fn(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *ptr,
		      size_t size, cl_uint count, const cl_event *list, cl_event *event);

static cl_int map_memory(const struct gt_call *call, map_fn *real, cl_command_queue queue,
			 cl_bool blocking, cl_map_flags flags, void *ptr, size_t size,
			 cl_uint count, const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {
		.what = {.bytes = size, .object = {(uintptr_t)ptr, (uintptr_t)ptr}}};
	cl_int ret =
		real(queue, blocking, flags, ptr, size, count, list,
		     gt_cl_activity_begin_early(call, queue, GT_DEVICE_MAP, &w, event, blocking));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_MAP, blocking, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueSVMMap(const struct gt_call *call, cl_command_queue queue,
				      cl_bool blocking, cl_map_flags flags, void *ptr, size_t size,
				      cl_uint count, const cl_event *list, cl_event *event)
{
	return map_memory(call, GT_CL_REAL(call, clEnqueueSVMMap), queue, blocking, flags, ptr,
			  size, count, list, event);
}

cl_int gt_opencl_wrap_clEnqueueSVMMapARM(const struct gt_call *call, cl_command_queue queue,
					 cl_bool blocking, cl_map_flags flags, void *ptr,
					 size_t size, cl_uint count, const cl_event *list,
					 cl_event *event)
{
	return map_memory(call, GT_CL_REAL(call, clEnqueueSVMMapARM), queue, blocking, flags, ptr,
			  size, count, list, event);
}

typedef cl_int unmap_fn(cl_command_queue queue, void *ptr, cl_uint count, const cl_event *list,
			cl_event *event);

static cl_int unmap_memory(const struct gt_call *call, unmap_fn *real, cl_command_queue queue,
			   void *ptr, cl_uint count, const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)ptr, (uintptr_t)ptr}};
	cl_int ret = real(queue, ptr, count, list,
			  gt_cl_activity_begin(call, queue, GT_DEVICE_UNMAP, &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_UNMAP, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueSVMUnmap(const struct gt_call *call, cl_command_queue queue,
					void *ptr, cl_uint count, const cl_event *list,
					cl_event *event)
{
	return unmap_memory(call, GT_CL_REAL(call, clEnqueueSVMUnmap), queue, ptr, count, list,
			    event);
}

cl_int gt_opencl_wrap_clEnqueueSVMUnmapARM(const struct gt_call *call, cl_command_queue queue,
					   void *ptr, cl_uint count, const cl_event *list,
					   cl_event *event)
{
	return unmap_memory(call, GT_CL_REAL(call, clEnqueueSVMUnmapARM), queue, ptr, count, list,
			    event);
}

cl_int gt_opencl_wrap_clEnqueueSVMMigrateMem(const struct gt_call *call, cl_command_queue queue,
					     cl_uint num, const void **pointers,
					     const size_t *sizes, cl_mem_migration_flags flags,
					     cl_uint count, const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.global = {num}};
	cl_int ret = GT_CL_REAL(call, clEnqueueSVMMigrateMem)(
		queue, num, pointers, sizes, flags, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_MIGRATE, &w, event));

	if (ret == CL_SUCCESS && w.table)
		w.what.bytes = sum_sizes(num, sizes);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_MIGRATE, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueMemsetINTEL(const struct gt_call *call, cl_command_queue queue,
					   void *dst, cl_int value, size_t size, cl_uint count,
					   const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what = {.bytes = size, .object = {0, (uintptr_t)dst}}};
	cl_int ret = GT_CL_REAL(call, clEnqueueMemsetINTEL)(queue, dst, value, size, count, list,
							    gt_cl_activity_begin(call, queue,
										 GT_DEVICE_FILL, &w,
										 event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_FILL, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueMigrateMemINTEL(const struct gt_call *call, cl_command_queue queue,
					       const void *ptr, size_t size,
					       cl_mem_migration_flags flags, cl_uint count,
					       const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {
		.what = {.bytes = size, .object = {(uintptr_t)ptr, (uintptr_t)ptr}}};
	cl_int ret = GT_CL_REAL(call, clEnqueueMigrateMemINTEL)(
		queue, ptr, size, flags, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_MIGRATE, &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_MIGRATE, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueMemAdviseINTEL(const struct gt_call *call, cl_command_queue queue,
					      const void *ptr, size_t size, cl_uint advice,
					      cl_uint count, const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)ptr, (uintptr_t)ptr}};
	cl_int ret = GT_CL_REAL(call, clEnqueueMemAdviseINTEL)(
		queue, ptr, size, advice, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_OTHER, &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_OTHER, false, &w, ret);
}
