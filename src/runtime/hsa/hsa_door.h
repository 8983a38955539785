/* SPDX-License-Identifier: MIT */
/* HSA's door and what stands behind it: the device activity gets the runtime's own functions and
 * is told when they come and go.
 *
 * ROCr offers its tables twice: to the tools of HSA_TOOLS_LIB (OnLoad(), all versions) and,
 * since ROCm 6.1, to whoever exports rocprofiler_set_api_table(). Whichever comes first is the
 * door of that copy of the runtime; the other is ignored.
 *
 * Calls of the runtime's own functions: gt_hsa_core_real() and gt_hsa_amd_ext_real(). They do
 * not pass through our taps. They may be another tool's functions, if it came before us. NULL:
 * this runtime has none of that name (AMD's extensions grow).
 *
 * A wrap is a function gt_hsa_core_wrap_<name>() or gt_hsa_amd_ext_wrap_<name>() with the
 * prototype in generated/hsa_*_wraps.h, for operations that say `wrap` in api/hsa-*.api;
 * gt_hsa_runtime_of(call) is its runtime. */
#ifndef GPUTAP_RUNTIME_HSA_HSA_DOOR_H
#define GPUTAP_RUNTIME_HSA_HSA_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/hsa_amd_ext_wraps.h"
#include "generated/hsa_core_wraps.h"
#include "generated/hsa_amd_ext_taps.h"
#include "generated/hsa_core_taps.h"
#include "generated/hsa_finalize_ext_taps.h"
#include "generated/hsa_image_ext_taps.h"

/* In front of each of the runtime's tables. */
struct gt_hsa_version {
	uint32_t major, size, step, reserved; /* size: of the table in bytes, this included */
};

/* What ROCr hands over. Members are there as far as version.size says: gt_hsa_has(). */
struct gt_hsa_tables {
	struct gt_hsa_version version;
	void *core, *amd_ext, *finalizer, *image; /* ROCm 5: size 48 */
	void *tools, *pc_sampling;                /* ROCm 6: size 64 */
};
#define gt_hsa_has(t, member)                                                            \
	(offsetof(struct gt_hsa_tables, member) + sizeof(void *) <= (t)->version.size && \
	 (t)->member)

/* One copy of the runtime. Never freed: its address may be kept. */
struct gt_hsa_runtime {
	uint32_t instance; /* of the tables and taps of HSA's domains */
	/* how often its tables came: from 1. hsa_shut_down() and hsa_init() make another */
	uint32_t loads;
	struct gt_hsa_tables *tables; /* the runtime's, in place; NULL between unload and load */
	const char *door;             /* through which they came */
	uint64_t base;                /* load address of its library; 0: not known */
};

extern struct gt_hsa_runtime gt_hsa_runtimes[GT_INSTANCES] __attribute__((visibility("hidden")));

static inline struct gt_hsa_runtime *gt_hsa_runtime_of(const struct gt_call *call)
{
	return &gt_hsa_runtimes[call->table->instance];
}

#define gt_hsa_core_real(runtime, f) \
	((gt_hsa_core_##f##_fn *)gt_hsa_core_taps[(runtime)->instance][GT_HSA_CORE_INDEX_##f].real)
#define gt_hsa_amd_ext_real(runtime, f)                                             \
	((gt_hsa_amd_ext_##f##_fn *)                                                \
		 gt_hsa_amd_ext_taps[(runtime)->instance][GT_HSA_AMD_EXT_INDEX_##f] \
			 .real)

/* Written by the device activity; weak, so that the door works without.
 *
 * loaded: the runtime's own functions can be got; our taps are not in its tables yet. In the
 * middle of the runtime's initialisation: no call into it, no lock that a call may hold.
 * unloading: the last hsa_shut_down(); in the middle of it. Queues and signals are gone or
 * going. HIP never calls it, and then this does not come. */
void gt_hsa_activity_loaded(struct gt_hsa_runtime *runtime) GT_WRAP;
void gt_hsa_activity_unloading(struct gt_hsa_runtime *runtime) GT_WRAP;

/**
 * gt_hsa_attach_tables() - a copy of the runtime has handed over its tables
 * @door:    for the module's record: "HSA_TOOLS_LIB" or "rocprofiler-register"
 * @version: of the runtime as 10000 * major + 100 * minor + patch; 0: it did not say
 * Return: 0; also when its tables are ours already.
 */
int gt_hsa_attach_tables(struct gt_hsa_tables *tables, const char *door, uint64_t version);

#endif
