/* SPDX-License-Identifier: MIT */
/* The generated OpenCL taps: one set per instance (a copy of the runtime, a platform's extension functions). */
#ifndef GPUTAP_RUNTIME_OPENCL_TAPS_H
#define GPUTAP_RUNTIME_OPENCL_TAPS_H

#include "core/tap.h"
#include "generated/opencl_ops.h"


/* Indexed by enum gt_opencl_index. */
extern const struct gt_operation gt_opencl_operations[GT_OPENCL_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_tap gt_opencl_taps[GT_INSTANCES][GT_OPENCL_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_table gt_opencl_tables[GT_INSTANCES] __attribute__((visibility("hidden")));

#endif
