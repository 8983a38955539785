/* SPDX-License-Identifier: MIT */
/* How HSA's tables are obtained: the highest file of this folder (hsa_runtime.h has the order).
 *
 * ROCr offers its tables twice: to the tools of HSA_TOOLS_LIB (OnLoad(), all versions) and,
 * since ROCm 6.1, to the library that exports rocprofiler_set_api_table(). The first offer is
 * taken for that copy of the runtime; the other is ignored.
 *
 * A wrap is a function gt_hsa_core_wrap_<name>() or gt_hsa_amd_ext_wrap_<name>() with the
 * prototype in generated/hsa_*_wraps.h, for operations that say `wrap` in api/hsa-*.api;
 * gt_hsa_runtime_of(call) is its runtime. */
#ifndef GPUTAP_RUNTIME_HSA_ATTACH_H
#define GPUTAP_RUNTIME_HSA_ATTACH_H

#include "runtime/hsa/hsa_runtime.h"

/**
 * gt_hsa_attach_tables() - a copy of the runtime has handed over its tables
 * @way:     for the module's record: "HSA_TOOLS_LIB" or "rocprofiler-register"
 * @version: of the runtime as 10000 * major + 100 * minor + patch; 0: it did not say
 * Return: 0; also when its tables are ours already.
 */
int gt_hsa_attach_tables(struct gt_hsa_tables *tables, const char *way, uint64_t version);

#endif
