/* SPDX-License-Identifier: MIT */
/* Operations and arguments of the HSA API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_H

#include <rocprofiler-sdk/hsa/api_trace_version.h>
#include <rocprofiler-sdk/hsa/api_args.h>
#include <rocprofiler-sdk/hsa/api_id.h>
#include <rocprofiler-sdk/hsa/scratch_memory_args.h>
#include <rocprofiler-sdk/hsa/scratch_memory_id.h>
#include <rocprofiler-sdk/hsa/table_id.h>

#endif
