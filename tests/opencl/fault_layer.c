/* SPDX-License-Identifier: MIT */
/* An OpenCL layer between gputap and the real runtime that misbehaves in ways that runtimes do. Set
 * OPENCL_LAYERS=this:gputap; FAULT selects the fault:
 *   refuse   refuses queues with profiling
 *   untimed  no profiling information, although it was requested
 *   failed   kernels end with error -5
 *   eventless kernels succeed, but without an event
 *   unprofiled  events on queues without profiling have times, all 0, and a size of 4
 *   asked    the thread that queries the status calls callbacks of events, as Intel's runtime does
 *   timer    clGetDeviceAndHostTimer() works: CLOCK_MONOTONIC_RAW, like PoCL's stamps
 *   platforms  each lookup of clCreateCommandBufferKHR() returns the function of another
 *   platform */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "runtime/opencl/cl_layers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

static const cl_icd_dispatch *below;
static cl_icd_dispatch ours;

static cl_command_queue CL_API_CALL create(cl_context c, cl_device_id d,
					   cl_command_queue_properties p, cl_int *error)
{
	if (!(p & CL_QUEUE_PROFILING_ENABLE))
		return below->clCreateCommandQueue(c, d, p, error);
	if (error)
		*error = CL_INVALID_QUEUE_PROPERTIES;
	return NULL;
}

static cl_command_queue CL_API_CALL create_with(cl_context c, cl_device_id d,
						const cl_queue_properties *list, cl_int *error)
{
	for (const cl_queue_properties *p = list; p && p[0]; p += 2)
		if (p[0] == CL_QUEUE_PROPERTIES && p[1] & CL_QUEUE_PROFILING_ENABLE) {
			if (error)
				*error = CL_INVALID_QUEUE_PROPERTIES;
			return NULL;
		}
	return below->clCreateCommandQueueWithProperties(c, d, list, error);
}

static cl_int CL_API_CALL no_profiling(cl_event e, cl_profiling_info name, size_t size, void *value,
				       size_t *size_ret)
{
	(void)e, (void)name, (void)size, (void)value, (void)size_ret;
	return CL_PROFILING_INFO_NOT_AVAILABLE;
}

static cl_int CL_API_CALL failed_info(cl_event e, cl_event_info name, size_t size, void *value,
				      size_t *size_ret)
{
	cl_int ret = below->clGetEventInfo(e, name, size, value, size_ret);
	cl_command_type type = 0;

	if (ret == CL_SUCCESS && name == CL_EVENT_COMMAND_EXECUTION_STATUS && value &&
	    *(cl_int *)value == CL_COMPLETE &&
	    below->clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL) ==
		    CL_SUCCESS &&
	    type == CL_COMMAND_NDRANGE_KERNEL)
		*(cl_int *)value = -5;
	return ret;
}

static cl_int CL_API_CALL failed_profiling(cl_event e, cl_profiling_info name, size_t size,
					   void *value, size_t *size_ret)
{
	cl_int status = CL_COMPLETE;

	failed_info(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
	return status < 0 ? CL_PROFILING_INFO_NOT_AVAILABLE
			  : below->clGetEventProfilingInfo(e, name, size, value, size_ret);
}

static cl_int CL_API_CALL eventless(cl_command_queue q, cl_kernel k, cl_uint n, const size_t *o,
				    const size_t *g, const size_t *l, cl_uint c, const cl_event *w,
				    cl_event *e)
{
	(void)e;
	return below->clEnqueueNDRangeKernel(q, k, n, o, g, l, c, w, NULL);
}

static cl_int CL_API_CALL zero_profiling(cl_event e, cl_profiling_info name, size_t size,
					 void *value, size_t *size_ret)
{
	cl_command_queue_properties properties = CL_QUEUE_PROFILING_ENABLE;
	cl_command_queue q = NULL;

	if (below->clGetEventInfo(e, CL_EVENT_COMMAND_QUEUE, sizeof q, &q, NULL) == CL_SUCCESS && q)
		below->clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
					     NULL);
	if (properties & CL_QUEUE_PROFILING_ENABLE)
		return below->clGetEventProfilingInfo(e, name, size, value, size_ret);
	if (value && size)
		memset(value, 0, size < 4 ? size : 4);
	if (size_ret)
		*size_ret = 4;
	return size < 4 ? CL_INVALID_VALUE : CL_SUCCESS;
}

static struct {
	cl_event event;
	void(CL_CALLBACK *function)(cl_event, cl_int, void *);
	void *user;
} registered[256];
static pthread_mutex_t registered_lock = PTHREAD_MUTEX_INITIALIZER;

static void call_back(cl_event e)
{
	cl_int status = CL_QUEUED;

	if (below->clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
				  NULL) != CL_SUCCESS ||
	    status > CL_COMPLETE)
		return;
	for (int i = 0; i < 256; i++) {
		cl_event found = NULL;

		pthread_mutex_lock(&registered_lock);
		if (registered[i].event == e) {
			found = e;
			registered[i].event = NULL;
		}
		pthread_mutex_unlock(&registered_lock);
		if (found) {
			registered[i].function(e, status, registered[i].user);
			below->clReleaseEvent(e);
		}
	}
}

static cl_int CL_API_CALL keep_callback(cl_event e, cl_int status,
					void(CL_CALLBACK *function)(cl_event, cl_int, void *),
					void *user)
{
	(void)status;
	pthread_mutex_lock(&registered_lock);
	for (int i = 0; i < 256; i++)
		if (!registered[i].event) {
			below->clRetainEvent(e);
			registered[i].event = e;
			registered[i].function = function;
			registered[i].user = user;
			break;
		}
	pthread_mutex_unlock(&registered_lock);
	call_back(e); /* the event may have completed, and is not queried again */
	return CL_SUCCESS;
}

static cl_int CL_API_CALL asked_info(cl_event e, cl_event_info name, size_t size, void *value,
				     size_t *size_ret)
{
	if (name == CL_EVENT_COMMAND_EXECUTION_STATUS)
		call_back(e);
	return below->clGetEventInfo(e, name, size, value, size_ret);
}

static cl_int CL_API_CALL asked_profiling(cl_event e, cl_profiling_info name, size_t size,
					  void *value, size_t *size_ret)
{
	call_back(e);
	return below->clGetEventProfilingInfo(e, name, size, value, size_ret);
}

static cl_int CL_API_CALL timer(cl_device_id d, cl_ulong *device, cl_ulong *host)
{
	struct timespec t;

	(void)d;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	*device = *host = (cl_ulong)t.tv_sec * 1000000000 + (cl_ulong)t.tv_nsec;
	return CL_SUCCESS;
}

/* Functions of nine platforms with the same name. Each returns a different error. */
#define PLATFORM(n)                                                                              \
	static void *CL_API_CALL create_buffer##n(cl_uint count, const cl_command_queue *queues, \
						  const cl_ulong *list, cl_int *error)           \
	{                                                                                        \
		(void)count, (void)queues, (void)list;                                           \
		if (error)                                                                       \
			*error = -100 - n;                                                       \
		return NULL;                                                                     \
	}
PLATFORM(1)
PLATFORM(2)
PLATFORM(3)
PLATFORM(4)
PLATFORM(5)
PLATFORM(6)
PLATFORM(7)
PLATFORM(8)
PLATFORM(9)

static void *CL_API_CALL of_platforms(cl_platform_id platform, const char *name)
{
	static void *(*const all[])(cl_uint, const cl_command_queue *, const cl_ulong *,
				    cl_int *) = {create_buffer1, create_buffer2, create_buffer3,
						 create_buffer4, create_buffer5, create_buffer6,
						 create_buffer7, create_buffer8, create_buffer9};
	static unsigned asked;

	if (strcmp(name, "clCreateCommandBufferKHR") != 0)
		return below->clGetExtensionFunctionAddressForPlatform(platform, name);
	return (void *)all[asked++ % 9];
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
						      size_t *size_ret)
{
	const cl_layer_api_version version = CL_LAYER_API_VERSION_100;

	if (name != CL_LAYER_API_VERSION || (value && size < sizeof version))
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, &version, sizeof version);
	if (size_ret)
		*size_ret = sizeof version;
	return CL_SUCCESS;
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target,
						   cl_uint *count_ret,
						   const cl_icd_dispatch **layer)
{
	const char *fault = getenv("FAULT");

	if (count < sizeof ours / sizeof(void *) || !fault)
		return CL_INVALID_VALUE;
	below = target;
	if (!strcmp(fault, "refuse")) {
		ours.clCreateCommandQueue = create;
		ours.clCreateCommandQueueWithProperties = create_with;
	} else if (!strcmp(fault, "untimed")) {
		ours.clGetEventProfilingInfo = no_profiling;
	} else if (!strcmp(fault, "failed")) {
		ours.clGetEventInfo = failed_info;
		ours.clGetEventProfilingInfo = failed_profiling;
	} else if (!strcmp(fault, "eventless")) {
		ours.clEnqueueNDRangeKernel = eventless;
	} else if (!strcmp(fault, "unprofiled")) {
		ours.clGetEventProfilingInfo = zero_profiling;
	} else if (!strcmp(fault, "asked")) {
		ours.clSetEventCallback = keep_callback;
		ours.clGetEventInfo = asked_info;
		ours.clGetEventProfilingInfo = asked_profiling;
	} else if (!strcmp(fault, "timer")) {
		ours.clGetDeviceAndHostTimer = timer;
	} else if (!strcmp(fault, "platforms")) {
		ours.clGetExtensionFunctionAddressForPlatform = of_platforms;
	}
	*count_ret = sizeof ours / sizeof(void *);
	*layer = &ours;
	return CL_SUCCESS;
}
