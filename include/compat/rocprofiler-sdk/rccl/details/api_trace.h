/* SPDX-License-Identifier: MIT */
/* RCCL's function table. Clients that intercept ROCPROFILER_RCCL_TABLE receive it. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_DETAILS_API_TRACE_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_DETAILS_API_TRACE_H

#include <stddef.h>

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/rccl/details/rccl.h>

ROCPROFILER_EXTERN_C_INIT

#ifndef GPUTAP_ROCPROFILER_NO_HIP
#include <rocprofiler-sdk/rccl/details/api_table.h>
typedef struct rcclApiFuncTable rcclApiFuncTable;
#endif

ROCPROFILER_EXTERN_C_FINI

#endif
