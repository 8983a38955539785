/* SPDX-License-Identifier: MIT */
/* Attaches OpenCL where there is no layer-capable loader: libgputap-audit.so has replaced a
 * library's exported functions with gputap's taps (runtime/audit/audit.c). This file is the part in
 * libgputap.so: it provides the table that the audit library looks up (runtime/interposition.h),
 * and adopts the entries that the audit library has armed.
 *
 * The library's calls to its own exported functions also go through the taps, and a library in
 * front of a layer-capable loader would be seen twice. If an instance is armed, a call inside
 * another call is therefore taken to be the runtime's own and is not recorded. */
#include <dlfcn.h>
#include <stdbool.h>

#include "core/emit.h"
#include "core/recording.h"
#include "core/table.h"
#include "runtime/interposition.h"
#include "runtime/module.h"
#include "runtime/opencl/opencl_attach.h"
#include "generated/opencl_taps.h"

#define GT_ATTACH         opencl
#define GT_ATTACH_UP      OPENCL
#define GT_ATTACH_EXPORTS "generated/opencl_exports.inc"
#include "runtime/attach_object.inc"

/* Adopt the armed entries. Called with the dynamic linker's lock held, so dlopen() and dladdr() are
 * forbidden. */
__attribute__((visibility("hidden"), used)) void gt_opencl_attached(void)
{
	if (gt_attach_adopt_all(gt_opencl_attach_states, gt_opencl_tables, GT_INSTANCES,
				GT_DOMAIN_OPENCL, "OpenCL"))
		gt_skip_nested[GT_DOMAIN_OPENCL] = UINT32_MAX;
}

bool gt_opencl_attach_take(uint32_t instance)
{
	uint32_t free = GT_ATTACH_FREE;

	return atomic_compare_exchange_strong(&gt_opencl_attach_states[instance].state, &free,
					      GT_ATTACH_LAYER) ||
	       free == GT_ATTACH_LAYER;
}

bool gt_opencl_attach_take_for_table(uint32_t instance)
{
	uint32_t free = GT_ATTACH_FREE;

	return atomic_compare_exchange_strong(&gt_opencl_attach_states[instance].state, &free,
					      GT_ATTACH_TABLE);
}

bool gt_opencl_attach_armed(const void *function)
{
	Dl_info where;
	bool found = dladdr(function, &where) != 0, armed = false;

	for (uint32_t i = 0; found && i < GT_INSTANCES; i++)
		armed |= atomic_load(&gt_opencl_attach_states[i].state) == GT_ATTACH_ARMED &&
			 gt_opencl_attach_states[i].base == (uintptr_t)where.dli_fbase;
	return armed;
}

bool gt_opencl_has_layer(void)
{
	for (uint32_t i = 0; i < GT_INSTANCES; i++)
		if (atomic_load(&gt_opencl_attach_states[i].state) == GT_ATTACH_LAYER)
			return true;
	return false;
}

__attribute__((constructor)) static void start_opencl_attach(void)
{
	gt_attach_begin(gt_opencl_attached);
}
