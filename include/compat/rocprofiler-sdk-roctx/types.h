/* SPDX-License-Identifier: MIT */
/* ROCTx's types. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCTX_TYPES_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCTX_TYPES_H

#include <stdint.h>

#include <rocprofiler-sdk-roctx/defines.h>

typedef uint64_t roctx_range_id_t;
typedef uint64_t roctx_thread_id_t;

#endif
