/* SPDX-License-Identifier: MIT */
/* Takes OpenCL over when a session attaches to a running program, and gives back what costs time
 * when the session has ended. */
#include "core/late.h"
#include "runtime/opencl/activity.h"
#include "runtime/opencl/opencl_attach.h"

static void attach_late(void)
{
	gt_cl_session_begin();
	if (!gt_opencl_has_layer()) /* gputap's layer sees all calls */
		gt_opencl_tables_attach();
}

static bool is_profiling_hidden(void)
{
	for (const struct gt_cl_queue *q = gt_cl_queue_first(); q; q = q->next)
		if (q->forced)
			return true;
	return false;
}

static void detach_late(void)
{
	gt_cl_session_end();
	gt_opencl_tables_detach(is_profiling_hidden());
}

GT_PROVIDE(gt_late) = {.name = "opencl", .attach = attach_late, .detach = detach_late};
