/* SPDX-License-Identifier: MIT */
/* Attaches as a layer of the OpenCL loader: an ICD loader reads OPENCL_LAYERS, opens libgputap.so
 * and requests a table.
 *
 *   program ─► loader ─► our table: a tap for each wanted function ─► the next layer or the driver
 *                                   NULL: the loader inserts its own function, and the call has no
 *                                   additional cost
 *
 * Each copy of a loader in the process is an instance with separate taps. Old loaders need
 * clGetLayerInfo and clInitLayer. Khronos' loaders from 2026 on need clInitLayerWithProperties, and
 * call clDeinitLayer at their end. All four are exported. These calls come during the loader's
 * initialisation, so this file must not call OpenCL. */
#define CL_TARGET_OPENCL_VERSION 300
#include "runtime/opencl/cl_layers.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "core/emit.h"
#include "core/table.h"
#include "runtime/module.h"
#include "runtime/opencl/opencl_attach.h"
#include "generated/opencl_taps.h"
#include "tool/tool_load.h"

enum { ENTRIES_MAX = 512 };

#define EXPORT __attribute__((visibility("default")))

cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries, const cl_icd_dispatch *target,
					     cl_uint *num_entries_ret,
					     const cl_icd_dispatch **layer,
					     const cl_properties *properties);
cl_int CL_API_CALL clDeinitLayer(void);

/* Tables passed to the loaders, which copy the table or store the pointer. */
static void *dispatch[GT_INSTANCES][ENTRIES_MAX];

/* Return true if the taps of an instance are free: its loader is no longer mapped, or is attaching
 * again (dlclose and dlopen). */
static int instance_unused(uint32_t i, const void *const *target)
{
	void *real = gt_opencl_taps[i][GT_OPENCL_INDEX_clGetPlatformIDs].real;
	Dl_info where;

	return real && (real == target[0] || !dladdr(real, &where));
}

static int register_instance(const void *const *target, size_t entries, void ***out)
{
	int rc = -ENOSPC;

	for (uint32_t i = 0; i < GT_INSTANCES && rc; i++) {
		if (!gt_opencl_attach_take(i))
			continue;
		*out = dispatch[i];
		rc = gt_table_register(&gt_opencl_tables[i], target, entries * sizeof(void *),
				       *out);
	}
	for (uint32_t i = 0; i < GT_INSTANCES && rc; i++)
		if (gt_opencl_attach_take(i) && instance_unused(i, target)) {
			gt_table_unregister(&gt_opencl_tables[i]);
			*out = dispatch[i];
			rc = gt_table_register(&gt_opencl_tables[i], target,
					       entries * sizeof(void *), *out);
		}
	return rc;
}

static cl_int init_layer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
			 cl_uint *num_entries_ret, const cl_icd_dispatch **layer,
			 const void *caller)
{
	const void *const *target = (const void *const *)target_dispatch;
	size_t entries = num_entries < ENTRIES_MAX ? num_entries : ENTRIES_MAX;
	void **table;
	int saved = errno, rc;

	if (!target || !num_entries_ret || !layer || !num_entries)
		return CL_INVALID_VALUE;
	/* One interception method suffices. With two, each call would be seen twice. */
	if (gt_opencl_attach_armed(caller))
		return CL_OUT_OF_RESOURCES;
	gt_tools_meet_runtime(false);
	rc = register_instance(target, entries, &table);
	if (rc == 0)
		gt_runtime_module_of(GT_DOMAIN_OPENCL, caller, "layer", 0);
	else
		gt_event_write(gt_thread_own(), GT_EVENT_NOT_TRACED, GT_DOMAIN_OPENCL, 0,
			       "a copy of the OpenCL loader, because too many copies are loaded");
	errno = saved;
	if (rc)
		return CL_OUT_OF_RESOURCES; /* the loader continues without the layer */
	for (size_t i = 0; i < entries; i++)
		if (table[i] == target[i])
			table[i] = NULL;
	*num_entries_ret = (cl_uint)entries;
	*layer = (const cl_icd_dispatch *)table;
	return CL_SUCCESS;
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
						      size_t *size_ret)
{
	static const char layer_name[] = "gputap";
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	const void *answer = name == CL_LAYER_API_VERSION ? (const void *)&version : layer_name;
	size_t bytes = name == CL_LAYER_API_VERSION ? sizeof version : sizeof layer_name;

	if ((name != CL_LAYER_API_VERSION && name != CL_LAYER_NAME) || (value && size < bytes))
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, answer, bytes);
	if (size_ret)
		*size_ret = bytes;
	return CL_SUCCESS;
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries,
						   const cl_icd_dispatch *target,
						   cl_uint *num_entries_ret,
						   const cl_icd_dispatch **layer)
{
	return init_layer(num_entries, target, num_entries_ret, layer, __builtin_return_address(0));
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries,
								 const cl_icd_dispatch *target,
								 cl_uint *num_entries_ret,
								 const cl_icd_dispatch **layer,
								 const cl_properties *properties)
{
	(void)properties; /* no relevant property exists */
	return init_layer(num_entries, target, num_entries_ret, layer, __builtin_return_address(0));
}

/* Return success when the loader is about to be unmapped. The instance is not freed here but when
 * another instance is needed, because other threads may still be executing gputap's taps. */
EXPORT CL_API_ENTRY cl_int CL_API_CALL clDeinitLayer(void)
{
	return CL_SUCCESS;
}
