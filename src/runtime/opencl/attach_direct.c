/* SPDX-License-Identifier: MIT */
/* A driver that a program calls without a loader, while a loader that knows layers is mapped.
 * Such a driver is left alone (opencl_interposed.h): it may be behind that loader, whose layer
 * sees its calls. Loaders ask a driver for its platforms by clIcdGetPlatformIDsKHR; who calls
 * its clGetPlatformIDs means the driver itself. So the audit library puts the function below in
 * front of that one function: it tells, once for each library, that these calls are not seen,
 * and goes on.
 *
 * What the driver calls of its own exports does not come here (own_calls). */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <string.h>

#include "core/emit.h"
#include "core/recording.h"
#include "core/table.h"
#include "runtime/interposition.h"
#include "generated/opencl_taps.h"

#define HIDDEN_FUNCTION __attribute__((visibility("hidden"), used))

enum { GT_OPENCL_DIRECT_INDEX_clGetPlatformIDs, GT_OPENCL_DIRECT_INDEX_COUNT };

/* By name: the door's assembler has their addresses. */
extern struct gt_tap gt_opencl_direct_taps[GT_INSTANCES][GT_OPENCL_DIRECT_INDEX_COUNT];
HIDDEN_FUNCTION struct gt_tap gt_opencl_direct_taps[GT_INSTANCES][GT_OPENCL_DIRECT_INDEX_COUNT];

#define GT_ATTACH         opencl_direct
#define GT_ATTACH_UP      OPENCL_DIRECT
#define GT_ATTACH_EXPORTS "runtime/opencl/opencl_first_exports.inc"
#include "runtime/attach_object.inc"

HIDDEN_FUNCTION void gt_opencl_direct_attached(void)
{
}

static void tell(unsigned instance)
{
	static const char why[] = ": a driver that the program calls without the loader that is "
				  "there, too: its calls are not seen";
	static _Atomic uint32_t reported[GT_INSTANCES]; /* the process that has told */
	const struct gt_attach_state *state = &gt_opencl_direct_attach_states[instance];
	struct gt_thread *t = gt_thread_own();
	char text[sizeof state->path + sizeof why];
	size_t n = strnlen(state->path, sizeof state->path);

	/* inside of a call that is recorded: a loader's or a layer's */
	if (!t || t->depth ||
	    atomic_exchange_explicit(&reported[instance], t->epoch, memory_order_relaxed) ==
		    t->epoch)
		return;
	memcpy(text, state->path, n);
	memcpy(text + n, why, sizeof why);
	gt_event_write(t, GT_EVENT_NOT_TRACED, GT_DOMAIN_OPENCL, 0, text);
}

#define DIRECT(n)                                                                                \
	cl_int gt_opencl_direct_tap##n##_clGetPlatformIDs(cl_uint, cl_platform_id *, cl_uint *); \
	HIDDEN_FUNCTION cl_int gt_opencl_direct_tap##n##_clGetPlatformIDs(                       \
		cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)          \
	{                                                                                        \
		cl_int (*real)(cl_uint, cl_platform_id *, cl_uint *) =                           \
			gt_opencl_direct_taps[n][0].real;                                        \
                                                                                                 \
		if (gt_recording_is_run())                                                       \
			tell(n);                                                                 \
		return real(num_entries, platforms, num_platforms);                              \
	}
DIRECT(0)
DIRECT(1)
DIRECT(2)
DIRECT(3)
DIRECT(4)
DIRECT(5)
DIRECT(6)
DIRECT(7)
_Static_assert(GT_INSTANCES == 8, "one function for each");
