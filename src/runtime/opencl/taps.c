/* SPDX-License-Identifier: MIT */
/* The generated taps of all instances, and the table of operations that names them.
 * A tap cannot tell who called it, so that each instance has code of its own: its address is the instance. */
#define CL_TARGET_OPENCL_VERSION 300
#include <stdbool.h>
#include <stddef.h>

#include "generated/opencl_wraps.h"
#include "runtime/opencl/taps.h"

/* Taps are reached through tables only: they are no part of the library's interface and their prototypes are the runtime's. */
#pragma GCC visibility push(hidden)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define GT_INSTANCE 0
#include "generated/opencl_taps.inc"
#undef GT_INSTANCE
#define GT_INSTANCE 1
#include "generated/opencl_taps.inc"
#undef GT_INSTANCE
#define GT_INSTANCE 2
#include "generated/opencl_taps.inc"
#undef GT_INSTANCE

#define GT_TAP_LIST(f) (void *const[]){gt_opencl_tap0_##f, gt_opencl_tap1_##f, gt_opencl_tap2_##f}
#include "generated/opencl_operations.inc"

struct gt_tap gt_opencl_taps[GT_OPENCL_INSTANCES][GT_OPENCL_INDEX_COUNT];
struct gt_table gt_opencl_tables[GT_OPENCL_INSTANCES] = {
#define TABLE(n) {GT_DOMAIN_OPENCL, n, gt_opencl_operations, GT_OPENCL_INDEX_COUNT, gt_opencl_taps[n], NULL, NULL}
	TABLE(0), TABLE(1), TABLE(2),
};
#pragma GCC visibility pop
