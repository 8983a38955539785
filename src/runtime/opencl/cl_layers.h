/* SPDX-License-Identifier: MIT */
/* Declarations for a layer of Khronos' OpenCL loader. Headers before 2021 (Debian 11's) have no
 * CL/cl_layer.h; for these, the same names, numbers and prototypes are declared here. */
#ifndef GPUTAP_RUNTIME_OPENCL_CL_LAYERS_H
#define GPUTAP_RUNTIME_OPENCL_CL_LAYERS_H

#if __has_include(<CL/cl_layer.h>)
#include <CL/cl_layer.h>
#else
#include <CL/cl_icd.h>

#define CL_LAYER_API_VERSION     0x4240
#define CL_LAYER_NAME            0x4241
#define CL_LAYER_API_VERSION_100 100

typedef cl_uint cl_layer_info;
typedef cl_uint cl_layer_api_version;

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
					       size_t *size_ret);
CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target,
					    cl_uint *entries_ret,
					    const cl_icd_dispatch **layer_ret);
#endif

#endif
