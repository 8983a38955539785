/* SPDX-License-Identifier: MIT */
/* The table of operations, which names the taps of all instances (taps_instance.c), and the instances' tables. */
#define CL_TARGET_OPENCL_VERSION 300
#include <stdbool.h>
#include <stddef.h>

#include "generated/opencl_wraps.h"
#include "runtime/opencl/taps.h"

#pragma GCC visibility push(hidden)
#define GT_TAP_DECLARE(ret, f, parameters) \
	ret gt_opencl_tap0_##f parameters;                 \
	ret gt_opencl_tap1_##f parameters;                 \
	ret gt_opencl_tap2_##f parameters
#define GT_TAP_LIST(f) (void *const[]){gt_opencl_tap0_##f, gt_opencl_tap1_##f, gt_opencl_tap2_##f}
#include "generated/opencl_operations.inc"

struct gt_tap gt_opencl_taps[GT_OPENCL_INSTANCES][GT_OPENCL_INDEX_COUNT];
struct gt_table gt_opencl_tables[GT_OPENCL_INSTANCES] = {
#define TABLE(n) {GT_DOMAIN_OPENCL, n, gt_opencl_operations, GT_OPENCL_INDEX_COUNT, gt_opencl_taps[n], NULL, NULL}
	TABLE(0), TABLE(1), TABLE(2),
};
#pragma GCC visibility pop
