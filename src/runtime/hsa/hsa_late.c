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
#include "runtime/mapped.h"

#define THREADS_NS (5000 * GT_HSA_MS)

enum { DETACHED, ATTACHED, LOOKING /* a thread attaches a new runtime */ };
static _Atomic uint32_t state;

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

	/* for tools, gputap is named in HSA_TOOLS_LIB: hsa_init() offers complete tables */
	if (!copy->is_initialised && atomic_load(&gt_recording.tools))
		return;
	/* tables of a runtime that is not initialised may not exist yet */
	if (!copy->tables && copy->is_initialised)
		gt_late_missing(GT_DOMAIN_HSA_CORE,
				"HSA calls, and kernels and copies of HSA and HIP: the tables of "
				"the runtime were not found");
	if (!copy->tables || gt_hsa_attach_tables(copy->tables, GT_HSA_IN_PLACE, 0) != 0)
		return;
	r = find_runtime(copy->tables);
	if (r && copy->is_initialised && !gt_hsa_code_find_loaded(r))
		gt_late_missing(GT_DOMAIN_HSA_CORE,
				"names of kernels that were loaded before: this version of the "
				"HSA runtime does not list its code objects");
}

/* Attach the copies of the runtime that are mapped. Return false if there is none. *in_use: set to
 * true if one of them is initialised */
static bool attach_copies(bool *in_use)
{
	struct gt_hsa_mapped copies[GT_INSTANCES];
	const size_t count = gt_hsa_tables_find(copies, GT_INSTANCES);

	*in_use = false;
	for (size_t i = 0; i < count; i++) {
		attach_copy(&copies[i]);
		*in_use |= copies[i].is_initialised;
	}
	atomic_store(&gt_hsa_was_shut_down, note_shut_down);
	return count;
}

static void begin_to_adopt(bool in_use)
{
	if (!in_use || gt_late_wait_for_threads(THREADS_NS))
		gt_hsa_adopt_begin();
	else
		gt_late_missing(GT_DOMAIN_HSA_CORE,
				"kernels on queues that were created before: a thread of the "
				"program did not run, so it may be in the middle of a submission");
}

static void attach_runtimes(void)
{
	struct gt_thread *t = gt_thread_own();
	bool in_use;

	atomic_store(&state, t ? ATTACHED : DETACHED);
	if (!t || !attach_copies(&in_use))
		return;
	gt_hsa_helper_resume(t);
	begin_to_adopt(in_use);
}

static void detach_runtimes(void)
{
	atomic_store(&state, DETACHED);
	gt_hsa_adopt_end();
	gt_hsa_helper_rest();
}

GT_PROVIDE(gt_late) = {.name = "hsa",
		       .attach = attach_runtimes,
		       .finish = gt_hsa_adopt_finish,
		       .detach = detach_runtimes};

/* Attach a runtime that the program has opened since. */
static void follow_mapped(void)
{
	uint32_t before = ATTACHED;
	bool in_use;

	/* one thread at a time; the next look finds the libraries of other threads */
	if (!atomic_compare_exchange_strong(&state, &before, LOOKING))
		return;
	gt_internal_enter();
	if (attach_copies(&in_use) && !gt_hsa_adopts())
		begin_to_adopt(in_use);
	gt_internal_leave();
	before = LOOKING;
	if (!atomic_compare_exchange_strong(&state, &before, ATTACHED))
		gt_hsa_adopt_end(); /* the session has ended meanwhile */
}

__attribute__((constructor)) static void start_hsa_late(void)
{
	gt_mapped_follow(follow_mapped);
}
