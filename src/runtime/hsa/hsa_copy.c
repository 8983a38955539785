/* SPDX-License-Identifier: MIT */
/* Asynchronous copies. */
#include "runtime/hsa/hsa_activity.h"

uint32_t gt_hsa_copies_look(struct gt_hsa_agent *agent, struct gt_thread *t, uint32_t *done)
{
	(void)agent;
	(void)t;
	(void)done;
	return 0;
}

void gt_hsa_activity_unloading(struct gt_hsa_runtime *runtime)
{
	gt_hsa_helper_leave(runtime);
}

int gt_hsa_core_wrap_hsa_signal_destroy(const struct gt_call *call, uint64_t signal)
{
	gt_hsa_signal_release(signal);
	return ((gt_hsa_core_hsa_signal_destroy_fn *)call->tap->real)(signal);
}
