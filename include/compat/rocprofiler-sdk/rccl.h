/* SPDX-License-Identifier: MIT */
/* Operations and arguments of the RCCL API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_H

#include <rocprofiler-sdk/rccl/api_args.h>
#include <rocprofiler-sdk/rccl/api_id.h>
#include <rocprofiler-sdk/rccl/table_id.h>

#endif
