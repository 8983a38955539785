/* SPDX-License-Identifier: MIT */
/* Operations and arguments of the rocJPEG API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCJPEG_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCJPEG_H

#include <rocprofiler-sdk/rocjpeg/api_args.h>
#include <rocprofiler-sdk/rocjpeg/api_id.h>
#include <rocprofiler-sdk/rocjpeg/table_id.h>

#endif
