/* SPDX-License-Identifier: MIT */
/* Operations and arguments of the marker API, which is ROCTx. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_MARKER_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_MARKER_H

#include <rocprofiler-sdk/marker/api_args.h>
#include <rocprofiler-sdk/marker/api_id.h>
#include <rocprofiler-sdk/marker/table_id.h>

#endif
