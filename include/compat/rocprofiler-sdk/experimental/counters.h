/* SPDX-License-Identifier: MIT */
/* Definitions of counters. Not supported: the function returns NO_HARDWARE_COUNTERS. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_EXPERIMENTAL_COUNTERS_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_EXPERIMENTAL_COUNTERS_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

rocprofiler_status_t rocprofiler_load_counter_definition(
	const char *yaml, size_t size, rocprofiler_counter_flag_t flags) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
