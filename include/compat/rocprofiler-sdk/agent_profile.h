/* SPDX-License-Identifier: MIT */
/* Counters of an agent, under the header name of rocprofiler-sdk 0.5. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_AGENT_PROFILE_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_AGENT_PROFILE_H

#include <rocprofiler-sdk/device_counting_service.h>
#include <rocprofiler-sdk/deprecated/version_0_5.h>

#endif
