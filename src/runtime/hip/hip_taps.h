/* SPDX-License-Identifier: MIT */
/* The generated HIP taps: one set per instance (a copy of the runtime's library), and its two tables: what programs call,
 * and what compilers call for them. */
#ifndef GPUTAP_RUNTIME_HIP_TAPS_H
#define GPUTAP_RUNTIME_HIP_TAPS_H

#include "core/tap.h"
#include "generated/hip_compiler_ops.h"
#include "generated/hip_ops.h"


/* Indexed by enum gt_hip_index. */
extern const struct gt_operation gt_hip_operations[GT_HIP_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_tap gt_hip_taps[GT_INSTANCES][GT_HIP_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_table gt_hip_tables[GT_INSTANCES] __attribute__((visibility("hidden")));

/* Indexed by enum gt_hip_compiler_index. */
extern const struct gt_operation gt_hip_compiler_operations[GT_HIP_COMPILER_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_tap gt_hip_compiler_taps[GT_INSTANCES][GT_HIP_COMPILER_INDEX_COUNT]
	__attribute__((visibility("hidden")));
extern struct gt_table gt_hip_compiler_tables[GT_INSTANCES] __attribute__((visibility("hidden")));

#endif
