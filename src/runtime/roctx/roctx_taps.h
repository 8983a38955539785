/* SPDX-License-Identifier: MIT */
/* The generated ROCTx taps: one set per instance (a library that has ROCTx's functions; there are two projects' of them). */
#ifndef GPUTAP_RUNTIME_ROCTX_TAPS_H
#define GPUTAP_RUNTIME_ROCTX_TAPS_H

#include "core/tap.h"
#include "generated/roctx_ops.h"


/* Indexed by enum gt_roctx_index. */
extern const struct gt_operation gt_roctx_operations[GT_ROCTX_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_tap gt_roctx_taps[GT_INSTANCES][GT_ROCTX_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_table gt_roctx_tables[GT_INSTANCES] __attribute__((visibility("hidden")));

/* The three tables of a library: core, control, name. Return: 0, also when they are ours already; -ENOSPC, -EINVAL. */
int gt_roctx_door_tables(uint64_t version, void **tables, uint64_t count);

#endif
