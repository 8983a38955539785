/* SPDX-License-Identifier: MIT */
/* Attaching to HSA in a running program (core/late.h). */
#include <stdio.h>

#include "core/late.h"
#include "core/recording.h"
#include "runtime/hsa/hsa_adopt.h"
#include "runtime/hsa/hsa_attach.h"
#include "runtime/hsa/hsa_code.h"
#include "runtime/hsa/hsa_helper.h"
#include "runtime/hsa/hsa_tables.h"

#define THREADS_NS (2000 * GT_HSA_MS)

static struct gt_hsa_runtime *find_runtime(const struct gt_hsa_tables *tables)
{
	for (uint32_t i = 0; i < GT_INSTANCES; i++)
		if (gt_hsa_runtimes[i].tables == tables)
			return &gt_hsa_runtimes[i];
	return NULL;
}

static bool is_initialised(const struct gt_hsa_runtime *r)
{
	uint64_t version = 0;

	return GT_HSA_CORE(r, hsa_system_get_info)(0 /* HSA_SYSTEM_INFO_VERSION_MAJOR */,
						   &version) == GT_HSA_SUCCESS;
}

/* Handle a shutdown that gputap does not learn from OnUnload(). The last shutdown restores the
 * runtime's tables; the next hsa_init() does not change them. */
static void note_shut_down(struct gt_hsa_runtime *r)
{
	if (!r->tables || is_initialised(r))
		return;
	gt_hsa_helper_leave(r, false);
	gt_hsa_attach_tables(r->tables, GT_HSA_IN_PLACE, 0);
}

static void attach_copy(const struct gt_hsa_mapped *copy)
{
	struct gt_hsa_runtime *r;

	if (!copy->tables) {
		gt_late_missing(GT_DOMAIN_HSA_CORE,
				"HSA calls, and kernels and copies of HSA and HIP: the tables of "
				"the runtime were not found");
		return;
	}
	if (gt_hsa_attach_tables(copy->tables, GT_HSA_IN_PLACE, 0) != 0)
		return;
	r = find_runtime(copy->tables);
	/* fails before hsa_init(), when there is nothing yet to be found */
	if (!r || !is_initialised(r))
		return;
	if (!gt_hsa_code_find_loaded(r))
		gt_late_missing(GT_DOMAIN_HSA_CORE,
				"names of kernels that were loaded before: this version of the "
				"HSA runtime does not list its code objects");
}

static void attach_runtimes(void)
{
	struct gt_hsa_mapped copies[GT_INSTANCES];
	const size_t count = gt_hsa_tables_find(copies, GT_INSTANCES);

	struct gt_thread *t = gt_thread_own();

	if (!count || !t)
		return;
	for (size_t i = 0; i < count; i++)
		attach_copy(&copies[i]);
	gt_hsa_helper_resume(t);
	atomic_store(&gt_hsa_was_shut_down, note_shut_down);
	if (gt_late_wait_for_threads(THREADS_NS))
		gt_hsa_adopt_begin();
	else
		gt_late_missing(GT_DOMAIN_HSA_CORE,
				"kernels on queues that were created before: a thread of the "
				"program did not run, so it may be in the middle of a submission");
}

static void detach_runtimes(void)
{
	gt_hsa_adopt_end();
	gt_hsa_helper_rest();
}

GT_PROVIDE(gt_late) = {.name = "hsa", .attach = attach_runtimes, .detach = detach_runtimes};
