/* SPDX-License-Identifier: MIT */
/* The table of operations, which names the taps of all instances (hsa_amd_ext_taps_instance.c), and the instances' tables. */
#include <stdbool.h>
#include <stddef.h>

#include "generated/hsa_amd_ext_wraps.h"
#include "runtime/hsa/hsa_taps.h"

#pragma GCC visibility push(hidden)
#define GT_TAP_DECLARE(ret, f, parameters) \
	ret gt_hsa_amd_ext_tap0_##f parameters; \
	ret gt_hsa_amd_ext_tap1_##f parameters; \
	ret gt_hsa_amd_ext_tap2_##f parameters
#define GT_TAP_LIST(f) (void *const[]){gt_hsa_amd_ext_tap0_##f, gt_hsa_amd_ext_tap1_##f, gt_hsa_amd_ext_tap2_##f}
#include "generated/hsa_amd_ext_operations.inc"

struct gt_tap gt_hsa_amd_ext_taps[GT_HSA_INSTANCES][GT_HSA_AMD_EXT_INDEX_COUNT];
struct gt_table gt_hsa_amd_ext_tables[GT_HSA_INSTANCES] = {
#define TABLE(n) {GT_DOMAIN_HSA_AMD_EXT, n, gt_hsa_amd_ext_operations, GT_HSA_AMD_EXT_INDEX_COUNT, gt_hsa_amd_ext_taps[n], "HSA AMD extensions", NULL}
	TABLE(0), TABLE(1), TABLE(2),
};
#pragma GCC visibility pop
