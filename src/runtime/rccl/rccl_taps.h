/* SPDX-License-Identifier: MIT */
/* The generated RCCL taps: one set per instance (a copy of its library), and its table. */
#ifndef GPUTAP_RUNTIME_RCCL_TAPS_H
#define GPUTAP_RUNTIME_RCCL_TAPS_H

#include "core/tap.h"
#include "generated/rccl_ops.h"

/* Indexed by enum gt_rccl_index. */
extern const struct gt_operation gt_rccl_operations[GT_RCCL_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_tap gt_rccl_taps[GT_INSTANCES][GT_RCCL_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_table gt_rccl_tables[GT_INSTANCES] __attribute__((visibility("hidden")));

#endif
