/* SPDX-License-Identifier: MIT */
/* Operations and arguments of the HIP API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HIP_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HIP_H

#include <rocprofiler-sdk/hip/api_args.h>
#include <rocprofiler-sdk/hip/api_id.h>
#include <rocprofiler-sdk/hip/table_id.h>

#endif
