/* SPDX-License-Identifier: MIT */
/* Ids of HSA's operations, which are positions in HSA's tables. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_API_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_API_ID_H

#include <rocprofiler-sdk/hsa/amd_ext_api_id.h>
#include <rocprofiler-sdk/hsa/core_api_id.h>
#include <rocprofiler-sdk/hsa/finalize_ext_api_id.h>
#include <rocprofiler-sdk/hsa/image_ext_api_id.h>

#endif
