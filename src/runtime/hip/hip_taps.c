/* SPDX-License-Identifier: MIT */
/* The table of operations, which names the taps of all instances (hip_taps_instance.c), and the instances' tables. */
#include <stdbool.h>
#include <stddef.h>

#include "generated/hip_wraps.h"
#include "runtime/hip/hip_taps.h"

#pragma GCC visibility push(hidden)
#define GT_TAP_DECLARE(ret, f, parameters) \
	ret gt_hip_tap0_##f parameters;    \
	ret gt_hip_tap1_##f parameters;    \
	ret gt_hip_tap2_##f parameters
#define GT_TAP_LIST(f) (void *const[]){gt_hip_tap0_##f, gt_hip_tap1_##f, gt_hip_tap2_##f}
#include "generated/hip_operations.inc"

struct gt_tap gt_hip_taps[GT_HIP_INSTANCES][GT_HIP_INDEX_COUNT];
struct gt_table gt_hip_tables[GT_HIP_INSTANCES] = {
#define TABLE(n) {GT_DOMAIN_HIP, n, gt_hip_operations, GT_HIP_INDEX_COUNT, gt_hip_taps[n], NULL, NULL}
	TABLE(0), TABLE(1), TABLE(2),
};
#pragma GCC visibility pop
