/* SPDX-License-Identifier: MIT */
/* The table of operations, which names the taps of all instances (roctx_taps_instance.c), and the instances' tables. */
#include <stdbool.h>
#include <stddef.h>

#include "generated/roctx_wraps.h"
#include "runtime/roctx/roctx_taps.h"

#pragma GCC visibility push(hidden)
#define GT_TAP_DECLARE(ret, f, parameters) \
	ret gt_roctx_tap0_##f parameters; \
	ret gt_roctx_tap1_##f parameters; \
	ret gt_roctx_tap2_##f parameters
#define GT_TAP_LIST(f) (void *const[]){gt_roctx_tap0_##f, gt_roctx_tap1_##f, gt_roctx_tap2_##f}
#include "generated/roctx_operations.inc"

struct gt_tap gt_roctx_taps[GT_ROCTX_INSTANCES][GT_ROCTX_INDEX_COUNT];
struct gt_table gt_roctx_tables[GT_ROCTX_INSTANCES] = {
#define TABLE(n) {GT_DOMAIN_ROCTX, n, gt_roctx_operations, GT_ROCTX_INDEX_COUNT, gt_roctx_taps[n], "ROCTx", NULL}
	TABLE(0), TABLE(1), TABLE(2),
};
#pragma GCC visibility pop
