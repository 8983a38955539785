/* SPDX-License-Identifier: MIT */
/* Records failures of devices. A failing device usually ends the process: ROCr aborts after a
 * memory fault, and HIP aborts after a queue error. ROCr and HIP first report the failure in a
 * thread of ROCr. In that thread:
 *   1. gputap records all activities completed by then (gt_hsa_helper_fault());
 *   2. gputap writes the failure as an event;
 *   3. the program's own callback, or the runtime's default handling, follows. */
#include "runtime/hsa/hsa_fault.h"

#include "runtime/hsa/hsa_helper.h"
#include "runtime/hsa/hsa_queue.h"

/* Record a failure. Never return SUCCESS, which would mean that the fault was handled. */
static int on_system_event(const struct gt_hsa_event *event, void *data)
{
	(void)data;
	if (event && event->type == GT_HSA_MEMORY_FAULT)
		gt_hsa_helper_fault(event->address, "memory access fault");
	return GT_HSA_ERROR;
}

void gt_hsa_fault_subscribe(struct gt_hsa_runtime *r)
{
	static _Atomic uint32_t loads[GT_INSTANCES];
	gt_hsa_amd_ext_hsa_amd_register_system_event_handler_fn *subscribe =
		GT_HSA_AMD(r, hsa_amd_register_system_event_handler);

	if (subscribe && atomic_exchange_explicit(&loads[r->instance], r->loads,
						  memory_order_relaxed) != r->loads)
		subscribe((void *)(uintptr_t)on_system_event, NULL);
}

void gt_hsa_report_queue_fault(int status, void *queue, void *data)
{
	const struct gt_hsa_queue *q = data;

	if (status != GT_HSA_SUCCESS)
		gt_hsa_helper_fault((uint64_t)status, "queue error");
	q->callback(status, queue, q->callback_data);
}
