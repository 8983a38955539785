/* SPDX-License-Identifier: MIT */
/* Ids of HIP's operations, which are positions in HIP's tables. The ids never change. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HIP_API_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HIP_API_ID_H

#include <rocprofiler-sdk/hip/compiler_api_id.h>
#include <rocprofiler-sdk/hip/runtime_api_id.h>

#endif
