/* SPDX-License-Identifier: MIT */
/* The generated HSA taps: one set per instance (a copy of the runtime's library), and its four tables. */
#ifndef GPUTAP_RUNTIME_HSA_TAPS_H
#define GPUTAP_RUNTIME_HSA_TAPS_H

#include "core/tap.h"
#include "generated/hsa_amd_ext_ops.h"
#include "generated/hsa_core_ops.h"
#include "generated/hsa_finalize_ext_ops.h"
#include "generated/hsa_image_ext_ops.h"

/* Indexed by enum gt_hsa_core_index. */
extern const struct gt_operation gt_hsa_core_operations[GT_HSA_CORE_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_tap gt_hsa_core_taps[GT_INSTANCES][GT_HSA_CORE_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_table gt_hsa_core_tables[GT_INSTANCES] __attribute__((visibility("hidden")));

/* Indexed by enum gt_hsa_amd_ext_index. */
extern const struct gt_operation gt_hsa_amd_ext_operations[GT_HSA_AMD_EXT_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_tap gt_hsa_amd_ext_taps[GT_INSTANCES][GT_HSA_AMD_EXT_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_table gt_hsa_amd_ext_tables[GT_INSTANCES] __attribute__((visibility("hidden")));

/* Indexed by enum gt_hsa_image_ext_index. */
extern const struct gt_operation gt_hsa_image_ext_operations[GT_HSA_IMAGE_EXT_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_tap gt_hsa_image_ext_taps[GT_INSTANCES][GT_HSA_IMAGE_EXT_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_table gt_hsa_image_ext_tables[GT_INSTANCES] __attribute__((visibility("hidden")));

/* Indexed by enum gt_hsa_finalize_ext_index. */
extern const struct gt_operation gt_hsa_finalize_ext_operations[GT_HSA_FINALIZE_EXT_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_tap gt_hsa_finalize_ext_taps[GT_INSTANCES][GT_HSA_FINALIZE_EXT_INDEX_COUNT] __attribute__((visibility("hidden")));
extern struct gt_table gt_hsa_finalize_ext_tables[GT_INSTANCES] __attribute__((visibility("hidden")));

#endif
