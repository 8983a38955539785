/* SPDX-License-Identifier: MIT */
/* Sets of counters, under the header name of rocprofiler-sdk 0.5. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_PROFILE_CONFIG_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_PROFILE_CONFIG_H

#include <rocprofiler-sdk/deprecated/profile_config.h>
#include <rocprofiler-sdk/deprecated/version_0_5.h>

#endif
