/* SPDX-License-Identifier: MIT */
/* Wraps the enqueue functions for markers, barriers, migrations, and the acquisition and release of
 * objects shared with other APIs. */
#include "runtime/opencl/activity.h"

static uint64_t bytes_of(const struct gt_table *table, cl_uint num, const cl_mem *objects)
{
	uint64_t bytes = 0;
	size_t size;

	gt_internal_enter();
	for (cl_uint i = 0; i < num && i < 256; i++)
		if (GT_CL(table, clGetMemObjectInfo)(objects[i], CL_MEM_SIZE, sizeof size, &size,
						     NULL) == CL_SUCCESS)
			bytes += size;
	gt_internal_leave();
	return bytes;
}

/* Follow a marker. Its event is the purpose of the call, so a NULL event is an error of the
 * program, which the runtime reports. */
cl_int gt_opencl_wrap_clEnqueueMarker(const struct gt_call *call, cl_command_queue queue,
				      cl_event *event)
{
	struct gt_cl_activity w = {.what.bytes = 0};
	cl_int ret;

	if (!event)
		return GT_CL_REAL(call, clEnqueueMarker)(queue, event);
	ret = GT_CL_REAL(call, clEnqueueMarker)(queue,
						gt_cl_activity_begin(call, queue, GT_DEVICE_MARKER,
								     &w, event));
	return gt_cl_activity_follow(call, queue, GT_DEVICE_MARKER, false, &w, ret);
}

/* Follow a barrier of OpenCL 1.0, which has no event. Since 1.2 it is equivalent to a barrier with
 * an empty wait list, which has an event. If the runtime refuses that form, the original call is
 * made to get its error. */
cl_int gt_opencl_wrap_clEnqueueBarrier(const struct gt_call *call, cl_command_queue queue)
{
	const struct gt_table *table = gt_cl_table_find(call);
	struct gt_cl_queue *q = gt_cl_queue_find(queue);
	struct gt_cl_activity w = {.what.bytes = 0};
	cl_int ret;

	if (call->thread && table && q && q->device && q->device->version >= 102 &&
	    GT_CL(table, clEnqueueBarrierWithWaitList)) {
		ret = GT_CL(table, clEnqueueBarrierWithWaitList)(
			queue, 0, NULL,
			gt_cl_activity_begin(call, queue, GT_DEVICE_BARRIER, &w, NULL));
		if (gt_cl_activity_follow(call, queue, GT_DEVICE_BARRIER, false, &w, ret) ==
		    CL_SUCCESS)
			return ret;
	}
	ret = GT_CL_REAL(call, clEnqueueBarrier)(queue);
	if (ret == CL_SUCCESS && gt_cl_is_recorded(call)) {
		gt_device_seen(call->thread, GT_DOMAIN_OPENCL);
		gt_drop(call->thread, GT_CLASS_DEVICE, GT_DOMAIN_OPENCL, GT_DROP_RUNTIME);
	}
	return ret;
}

cl_int gt_opencl_wrap_clEnqueueMarkerWithWaitList(const struct gt_call *call,
						  cl_command_queue queue, cl_uint count,
						  const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.bytes = 0};
	cl_int ret = GT_CL_REAL(call, clEnqueueMarkerWithWaitList)(
		queue, count, list, gt_cl_activity_begin(call, queue, GT_DEVICE_MARKER, &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_MARKER, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueBarrierWithWaitList(const struct gt_call *call,
						   cl_command_queue queue, cl_uint count,
						   const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.bytes = 0};
	cl_int ret = GT_CL_REAL(call, clEnqueueBarrierWithWaitList)(
		queue, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_BARRIER, &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_BARRIER, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueMigrateMemObjects(const struct gt_call *call, cl_command_queue queue,
						 cl_uint num, const cl_mem *objects,
						 cl_mem_migration_flags flags, cl_uint count,
						 const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.global = {num}};
	cl_int ret = GT_CL_REAL(call, clEnqueueMigrateMemObjects)(
		queue, num, objects, flags, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_MIGRATE, &w, event));

	if (ret == CL_SUCCESS && w.table)
		w.what.bytes = bytes_of(w.table, num, objects);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_MIGRATE, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueMigrateMemObjectEXT(const struct gt_call *call,
						   cl_command_queue queue, cl_uint num,
						   const cl_mem *objects, cl_ulong flags,
						   cl_uint count, const cl_event *list,
						   cl_event *event)
{
	struct gt_cl_activity w = {.what.global = {num}};
	cl_int ret = GT_CL_REAL(call, clEnqueueMigrateMemObjectEXT)(
		queue, num, objects, flags, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_MIGRATE, &w, event));

	if (ret == CL_SUCCESS && w.table)
		w.what.bytes = bytes_of(w.table, num, objects);
	return gt_cl_activity_follow(call, queue, GT_DEVICE_MIGRATE, false, &w, ret);
}

/* Define the wrap of a function that acquires or releases shared objects. */
#define SHARED(f)                                                                                  \
	cl_int gt_opencl_wrap_##f(const struct gt_call *call, cl_command_queue queue, cl_uint num, \
				  const cl_mem *objects, cl_uint count, const cl_event *list,      \
				  cl_event *event)                                                 \
	{                                                                                          \
		struct gt_cl_activity w = {.what.global = {num}};                                  \
		cl_int ret =                                                                       \
			GT_CL_REAL(call, f)(queue, num, objects, count, list,                      \
					    gt_cl_activity_begin(call, queue, GT_DEVICE_OTHER, &w, \
								 event));                          \
                                                                                                   \
		return gt_cl_activity_follow(call, queue, GT_DEVICE_OTHER, false, &w, ret);        \
	}
SHARED(clEnqueueAcquireGLObjects)
SHARED(clEnqueueReleaseGLObjects)
SHARED(clEnqueueAcquireEGLObjectsKHR)
SHARED(clEnqueueReleaseEGLObjectsKHR)
SHARED(clEnqueueAcquireExternalMemObjectsKHR)
SHARED(clEnqueueReleaseExternalMemObjectsKHR)
SHARED(clEnqueueAcquireGrallocObjectsIMG)
SHARED(clEnqueueReleaseGrallocObjectsIMG)
SHARED(clEnqueueAcquireVA_APIMediaSurfacesINTEL)
SHARED(clEnqueueReleaseVA_APIMediaSurfacesINTEL)

cl_int gt_opencl_wrap_clEnqueueGenerateMipmapIMG(const struct gt_call *call, cl_command_queue queue,
						 cl_mem src, cl_mem dst, cl_uint mode,
						 const size_t *array_region,
						 const size_t *mip_region, cl_uint count,
						 const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.object = {(uintptr_t)src, (uintptr_t)dst}};
	cl_int ret = GT_CL_REAL(call, clEnqueueGenerateMipmapIMG)(
		queue, src, dst, mode, array_region, mip_region, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_OTHER, &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_OTHER, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueWaitSemaphoresKHR(const struct gt_call *call, cl_command_queue queue,
						 cl_uint num, const void **semaphores,
						 const cl_ulong *payloads, cl_uint count,
						 const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.global = {num}};
	cl_int ret = GT_CL_REAL(call, clEnqueueWaitSemaphoresKHR)(
		queue, num, semaphores, payloads, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_OTHER, &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_OTHER, false, &w, ret);
}

cl_int gt_opencl_wrap_clEnqueueSignalSemaphoresKHR(const struct gt_call *call,
						   cl_command_queue queue, cl_uint num,
						   const void **semaphores,
						   const cl_ulong *payloads, cl_uint count,
						   const cl_event *list, cl_event *event)
{
	struct gt_cl_activity w = {.what.global = {num}};
	cl_int ret = GT_CL_REAL(call, clEnqueueSignalSemaphoresKHR)(
		queue, num, semaphores, payloads, count, list,
		gt_cl_activity_begin(call, queue, GT_DEVICE_OTHER, &w, event));

	return gt_cl_activity_follow(call, queue, GT_DEVICE_OTHER, false, &w, ret);
}
