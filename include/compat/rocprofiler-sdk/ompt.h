/* SPDX-License-Identifier: MIT */
/* OpenMP tools. Declared so that clients compile. The library never reports an OpenMP runtime. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_OMPT_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_OMPT_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/ompt/api_args.h>
#include <rocprofiler-sdk/ompt/api_id.h>

ROCPROFILER_EXTERN_C_INIT

struct ompt_start_tool_result_t;

/* @status: receives 0. */
rocprofiler_status_t rocprofiler_ompt_is_initialized(int *status) ROCPROFILER_API
	ROCPROFILER_NONNULL(1);
rocprofiler_status_t rocprofiler_ompt_is_finalized(int *status) ROCPROFILER_API
	ROCPROFILER_NONNULL(1);
/* Return: NULL. */
struct ompt_start_tool_result_t *rocprofiler_ompt_start_tool(
	unsigned int omp_version, const char *runtime_version) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
