/* SPDX-License-Identifier: MIT */
/* Operations and arguments of the rocDecode API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCDECODE_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCDECODE_H

#include <rocprofiler-sdk/rocdecode/api_args.h>
#include <rocprofiler-sdk/rocdecode/api_id.h>
#include <rocprofiler-sdk/rocdecode/table_id.h>

#endif
