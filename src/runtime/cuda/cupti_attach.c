/* SPDX-License-Identifier: MIT */
/* Attaches to CUPTI through interposition. api/cupti.api lists CUPTI's functions; cupti_share.c
 * handles their calls. */
#include "core/recording.h"
#include "core/table.h"
#include "generated/cupti_taps.h"
#include "runtime/cuda/cupti_client.h"
#include "runtime/interposition.h"

#define GT_ATTACH           cupti
#define GT_ATTACH_UP        CUPTI
#define GT_ATTACH_EXPORTS   "generated/cupti_exports.inc"
#define GT_ATTACH_INSTANCES 2
#include "runtime/attach_object.inc"

/* Enable all wraps. Tools may request CUDA's GPU activities after the client has started, so the
 * client's earlier calls must be noted. */
static void wrap_for_tools(void)
{
	for (unsigned i = 0; i < GT_CUPTI_INSTANCES; i++)
		for (unsigned n = 0; n < GT_CUPTI_INDEX_COUNT; n++)
			if (gt_cupti_operations[n].wrap)
				atomic_fetch_or(&gt_cupti_taps[i][n].services, GT_SERVICE_WRAP);
}

/* Attach to newly mapped copies of CUPTI. The caller may hold the dynamic linker's lock. */
__attribute__((visibility("hidden"), used)) void gt_cupti_attached(void)
{
	if (gt_attach_adopt_all(gt_cupti_attach_states, gt_cupti_tables, GT_CUPTI_INSTANCES,
				GT_DOMAIN_CUPTI, "CUPTI") &&
	    atomic_load_explicit(&gt_recording.tools, memory_order_relaxed))
		wrap_for_tools();
}

__attribute__((constructor)) static void begin(void)
{
	gt_attach_begin(gt_cupti_attached);
}

void *gt_cupti_real(void *function)
{
	for (unsigned i = 0; i < GT_CUPTI_INSTANCES; i++)
		for (unsigned n = 0; n < GT_CUPTI_INDEX_COUNT; n++)
			if (gt_table_tap(&gt_cupti_tables[i], n) == function)
				return gt_cupti_taps[i][n].real;
	return function;
}
