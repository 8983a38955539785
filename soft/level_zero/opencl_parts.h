/* SPDX-License-Identifier: MIT */
/* Shared by the files that implement opencl.h: an OpenCL driver that was found. */
#ifndef SOFT_LEVEL_ZERO_OPENCL_PARTS_H
#define SOFT_LEVEL_ZERO_OPENCL_PARTS_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include "soft/level_zero/opencl.h"

struct soft_cl_runtime {
	enum soft_cl_language index;
	const cl_icd_dispatch *call;
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	/* clSetKernelArgMemPointerINTEL, whose type headers before 2022 lack; NULL: use the
	 * function for shared memory */
	cl_int(CL_API_CALL *set_pointer)(cl_kernel kernel, cl_uint index, const void *value);
};

/* Search for an OpenCL driver, once. Return NULL if no driver is found. */
const struct soft_cl_runtime *soft_cl_find_runtime(const char *opencl,
						   enum soft_cl_language language);
/* Set the object as an argument of a kernel. Return an OpenCL status. */
cl_int soft_cl_object_set(struct soft_cl_object *object, const struct soft_cl_runtime *runtime,
			  cl_kernel kernel, cl_uint index);
/* Pass the object's pixels to OpenCL, or (@to_device: false) back to the host. */
cl_int soft_cl_image_sync(struct soft_cl_object *object, const struct soft_cl_runtime *runtime,
			  cl_command_queue queue, bool to_device);

#endif
