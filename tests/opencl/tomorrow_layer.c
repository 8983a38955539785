/* SPDX-License-Identifier: MIT */
/* An OpenCL layer with a function that no description contains, as newer runtimes will have. */
#define CL_TARGET_OPENCL_VERSION 300
#include "runtime/opencl/cl_layers.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static const cl_icd_dispatch *below;
static cl_icd_dispatch ours;

static cl_int CL_API_CALL of_tomorrow(void)
{
	return 77;
}

static void *CL_API_CALL address(cl_platform_id platform, const char *name)
{
	if (name && !strcmp(name, "clFunctionOfTomorrow"))
		return (void *)of_tomorrow;
	return below->clGetExtensionFunctionAddressForPlatform(platform, name);
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
	if (count < sizeof ours / sizeof(void *))
		return CL_INVALID_VALUE;
	below = target;
	ours.clGetExtensionFunctionAddressForPlatform = address;
	*count_ret = sizeof ours / sizeof(void *);
	*layer = &ours;
	return CL_SUCCESS;
}
