/* SPDX-License-Identifier: MIT */
/* Handles functions that a program looks up at run time. For a known function, the program gets a
 * tap. Two platforms may each have a function of the same name; each gets a separate tap while
 * instances are free. After that, the program gets the runtime's own function, and an event
 * reports that function. */
#include "core/late.h"
#include "core/table.h"
#include "record/operation.h"
#include "runtime/opencl/activity.h"
#include "runtime/opencl/opencl_attach.h"
#include "generated/opencl_taps.h"

#include <string.h>

enum { REPORTED_MAX = 256 };

/* Return true the first time that @name is reported; names are compared by hash. When the table is
 * full, no more names are reported. */
static bool report_name(const char *name)
{
	static _Atomic uint64_t reported[REPORTED_MAX];
	uint64_t hash = UINT64_C(0xcbf29ce484222325), seen;

	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	hash |= 1;
	for (unsigned i = 0; i < REPORTED_MAX; i++) {
		seen = 0;
		if (atomic_compare_exchange_strong_explicit(&reported[(hash + i) % REPORTED_MAX],
							    &seen, hash, memory_order_relaxed,
							    memory_order_relaxed))
			return true;
		if (seen == hash)
			return false;
	}
	return false;
}

/* Return true if all instances of a function are in use for other real functions. */
static bool no_instance_left(const char *name, const void *real)
{
	for (uint32_t f = 0; f < GT_OPENCL_INDEX_COUNT; f++) {
		if (strcmp(gt_operation_text(gt_opencl_operations[f].op), name) != 0)
			continue;
		for (unsigned i = 0; i < GT_INSTANCES; i++) {
			const void *other = gt_opencl_taps[i][f].real;

			if (!other || other == real ||
			    gt_table_tap(&gt_opencl_tables[i], f) == real)
				return false;
		}
		return true;
	}
	return false;
}

static void *hand_out(const struct gt_call *call, const char *name, void *real)
{
	struct gt_table *tables[GT_INSTANCES];
	bool unknown = false;
	uint32_t owner;
	void *tap;

	if (!real || !name)
		return real;
	/* Uses the table that has the core functions, because calls of extension functions use
	 * other tables. */
	gt_cl_table_find(call);
	for (unsigned i = 0; i < GT_INSTANCES; i++)
		tables[i] = &gt_opencl_tables[i];
	/* A driver's functions must be called with its own objects only. */
	owner = gt_is_late() ? gt_opencl_tables_instance(real) : GT_INSTANCES;
	if (owner < GT_INSTANCES) {
		tables[0] = &gt_opencl_tables[owner];
		tables[owner] = &gt_opencl_tables[0];
	}
	tap = gt_table_extension(tables, GT_INSTANCES, name, real, &unknown);
	if (unknown ? report_name(name)
		    : tap == real && no_instance_left(name, real) && report_name(name))
		gt_event_write(gt_cl_thread_find(call), GT_EVENT_UNKNOWN_ENTRY, GT_DOMAIN_OPENCL,
			       !unknown, name);
	return tap;
}

void *gt_opencl_wrap_clGetExtensionFunctionAddress(const struct gt_call *call, const char *name)
{
	return hand_out(call, name, GT_CL_REAL(call, clGetExtensionFunctionAddress)(name));
}

void *gt_opencl_wrap_clGetExtensionFunctionAddressForPlatform(const struct gt_call *call,
							      cl_platform_id platform,
							      const char *name)
{
	return hand_out(call, name,
			GT_CL_REAL(call, clGetExtensionFunctionAddressForPlatform)(platform, name));
}
