/* SPDX-License-Identifier: MIT */
/* Records a program's first call if no drivers exist. A layer-capable loader searches for layers
 * once it has found drivers. Without drivers, Debian's loader answers clGetPlatformIDs() itself and
 * no layer sees the call. The audit library therefore places the function below in front of that
 * one function of such a loader (opencl_interposed.h):
 *
 *   a layer exists by now, or the call succeeded ─► nothing: the layer sees everything
 *   the call failed, and no layers exist         ─► recorded here
 *
 * Recording starts only once it is known that this function records the call, so that the layer's
 * own record is the same as without this function. Tools are not notified. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include "core/recording.h"
#include "core/table.h"
#include "runtime/interposition.h"
#include "runtime/module.h"
#include "runtime/opencl/opencl_attach.h"
#include "generated/opencl_taps.h"

#define GT_ATTACH    opencl_first
#define GT_ATTACH_UP OPENCL_FIRST
#include "runtime/opencl/attach_platforms.inc"

/* Return true if the call must be recorded. The table is registered only then, so that a program
 * that never makes this call counts as a program without a runtime. */
static bool is_attach_asked(void)
{
	static struct gt_tap tap;
	static struct gt_table table;

	gt_core_lock();
	if (!table.operations)
		table = (struct gt_table){
			.domain = GT_DOMAIN_OPENCL,
			.operation_count = 1,
			.taps = &tap,
			.name = "OpenCL",
			.operations = &gt_opencl_operations[GT_OPENCL_INDEX_clGetPlatformIDs]};
	gt_core_unlock();
	return gt_table_adopt(&table) == 0 && (gt_tap_services(&tap) & GT_SERVICE_STREAM);
}

static void record(cl_uint num_entries, const cl_platform_id *platforms, cl_int status,
		   uint64_t start, uint64_t end)
{
	const uint32_t op = gt_opencl_operations[GT_OPENCL_INDEX_clGetPlatformIDs].op;
	struct gt_thread *t = gt_thread_call(GT_DOMAIN_OPENCL);
	uint64_t id;

	if (!t)
		return;
	id = gt_call_begin(t, GT_DOMAIN_OPENCL, GT_OP_NUMBER(op));
	if (gt_tap_options.record_args) {
		const struct gt_blob blob = gt_blob(1, false, platforms, 0);
		size_t bytes = 64 + gt_blob_bytes(blob);
		struct gt_record_call *r =
			gt_tap_record(t, op, bytes, id, start, end, (uint64_t)(int64_t)status);

		if (r) {
			r->args[0] = num_entries;
			r->args[1] = (uintptr_t)platforms;
			r->args[2] = 0;
			gt_blob_put(r->args + 3, blob);
			gt_ring_commit(t, bytes);
		}
	} else {
		gt_tap_record_plain(t, op & ~GT_OP(0, 0, 0xff), id, start, end,
				    (uint64_t)(int64_t)status);
	}
	gt_call_end(t);
}

static cl_int get_platforms(unsigned instance, platforms_fn *real, cl_uint num_entries,
			    cl_platform_id *platforms, cl_uint *num_platforms)
{
	cl_int status;
	const struct gt_attach_state *state = get_library(instance);
	uint64_t start;

	if (gt_opencl_has_layer() ||
	    gt_thread.internal) /* in internal calls no clock may be read (core/seccomp.c) */
		return real(num_entries, platforms, num_platforms);
	start = gt_ticks();
	status = real(num_entries, platforms, num_platforms);
	if (status < 0 && gt_recording_is_run() && !gt_opencl_has_layer()) {
		uint64_t end = gt_ticks();

		if (is_attach_asked()) {
			gt_runtime_module_named(GT_DOMAIN_OPENCL, state->path, state->base,
						"interposition", 0);
			record(num_entries, platforms, status, start, end);
		}
	}
	return status;
}
