/* SPDX-License-Identifier: MIT */
/* The table of operations, which names the taps of all instances (hsa_core_taps_instance.c), and the instances' tables. */
#include <stdbool.h>
#include <stddef.h>

#include "generated/hsa_core_wraps.h"
#include "runtime/hsa/hsa_taps.h"

#pragma GCC visibility push(hidden)
#define GT_TAP_DECLARE(ret, f, parameters) \
	ret gt_hsa_core_tap0_##f parameters; \
	ret gt_hsa_core_tap1_##f parameters; \
	ret gt_hsa_core_tap2_##f parameters
#define GT_TAP_LIST(f) (void *const[]){gt_hsa_core_tap0_##f, gt_hsa_core_tap1_##f, gt_hsa_core_tap2_##f}
#include "generated/hsa_core_operations.inc"

struct gt_tap gt_hsa_core_taps[GT_HSA_INSTANCES][GT_HSA_CORE_INDEX_COUNT];
struct gt_table gt_hsa_core_tables[GT_HSA_INSTANCES] = {
#define TABLE(n) {GT_DOMAIN_HSA_CORE, n, gt_hsa_core_operations, GT_HSA_CORE_INDEX_COUNT, gt_hsa_core_taps[n], "HSA core", NULL}
	TABLE(0), TABLE(1), TABLE(2),
};
#pragma GCC visibility pop
