/* SPDX-License-Identifier: MIT */
/* CUDA in a program that gputap was attached to while it was running (core/late.h).
 *
 *   attach: runtime/mapped.c has changed libcuda's and libcupti's symbols and the addresses that
 *           objects hold; here CUPTI is subscribed, for GPU activities and for the calls that
 *           bypass the taps (cuda_driver_calls.c)
 *   detach: callbacks are disabled, records are flushed, the helper ends; the next launch finalises
 *           CUPTI (cupti_session.h)
 *
 * CUPTI is not opened in a process whose driver is not initialised: the tap of cuInit() opens it.
 * In the child of a fork of a process that uses CUDA, CUPTI would hang. The driver says there that
 * it is not initialised. */
#include <stdio.h>

#include "core/late.h"
#include "runtime/cuda/cuda_driver_calls.h"
#include "runtime/cuda/cuda_parts.h"

static bool is_driver_ready(void)
{
	int count = 0, status;

	if (!GT_CUDA_REAL(cuDeviceGetCount))
		return false;
	gt_internal_enter();
	status = GT_CUDA_REAL(cuDeviceGetCount)(&count);
	gt_internal_leave();
	return status == 0;
}

static void attach(void)
{
	if (!is_driver_ready())
		return;
	gt_cuda_affinity_note_all();
	gt_cuda_activity_renew();
	gt_cuda_graphs_forget();
	gt_cuda_helper_attach();
	if (!gt_cupti_session_is_active())
		gt_late_missing(GT_DOMAIN_CUDA_DRIVER,
				"driver calls through addresses that the program keeps outside of "
				"its libraries' data (ctypes, JIT code): CUPTI is not in use");
}

GT_PROVIDE(gt_late) = {
	.name = "cuda",
	.attach = attach,
	.finish = gt_cuda_helper_leave,
	.detach = gt_cuda_helper_detach,
};
