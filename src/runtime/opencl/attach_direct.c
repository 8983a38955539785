/* SPDX-License-Identifier: MIT */
/* Reports a driver that a program calls without a loader, while a layer-capable loader is mapped.
 * Such a driver is not interposed (opencl_interposed.h), because it may be used through that
 * loader, whose layer sees its calls. Loaders query a driver's platforms with
 * clIcdGetPlatformIDsKHR, so a call of the driver's clGetPlatformIDs comes directly from the
 * program. The audit library therefore places the function below in front of that one function. The
 * function reports, once per library, that gputap does not see these calls, and then calls the real
 * function.
 *
 * The driver's calls of its own exported functions do not reach this function (own_calls). */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <string.h>

#include "core/emit.h"
#include "core/recording.h"
#include "core/table.h"
#include "runtime/interposition.h"
#include "generated/opencl_taps.h"

#define GT_ATTACH    opencl_direct
#define GT_ATTACH_UP OPENCL_DIRECT
#include "runtime/opencl/attach_platforms.inc"

static void report_driver(unsigned instance)
{
	static const char why[] = ": the program calls this driver directly, not through a loader, "
				  "so these calls are not recorded";
	static _Atomic uint32_t reported[GT_INSTANCES]; /* process that has reported */
	const struct gt_attach_state *state = get_library(instance);
	struct gt_thread *t = gt_thread_own();
	char text[sizeof state->path + sizeof why];
	size_t n = strnlen(state->path, sizeof state->path);

	/* A call inside a recorded call is made by a loader or a layer. */
	if (!t || t->depth ||
	    atomic_exchange_explicit(&reported[instance], t->epoch, memory_order_relaxed) ==
		    t->epoch)
		return;
	memcpy(text, state->path, n);
	memcpy(text + n, why, sizeof why);
	gt_event_write(t, GT_EVENT_NOT_TRACED, GT_DOMAIN_OPENCL, 0, text);
}

static cl_int get_platforms(unsigned instance, platforms_fn *real, cl_uint num_entries,
			    cl_platform_id *platforms, cl_uint *num_platforms)
{
	if (gt_recording_is_run())
		report_driver(instance);
	return real(num_entries, platforms, num_platforms);
}
