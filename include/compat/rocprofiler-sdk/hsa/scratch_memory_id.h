/* SPDX-License-Identifier: MIT */
/* Scratch memory's events, with HSA's numbers. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_SCRATCH_MEMORY_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_SCRATCH_MEMORY_ID_H

#if !defined(GPUTAP_ROCPROFILER_OPAQUE) && defined(__has_include) && __has_include(<hsa/hsa_amd_tool.h>)
#include <hsa/hsa_amd_tool.h>
#else
typedef enum {
	HSA_AMD_TOOL_EVENT_MIN = 0,
	HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START,
	HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_END,
	HSA_AMD_TOOL_EVENT_SCRATCH_FREE_START,
	HSA_AMD_TOOL_EVENT_SCRATCH_FREE_END,
	HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_START,
	HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_END,
	HSA_AMD_TOOL_EVENT_MAX
} hsa_amd_tool_event_kind_t;
#endif

typedef enum rocprofiler_scratch_alloc_flag_t {
	ROCPROFILER_SCRATCH_ALLOC_FLAG_NONE = 0,
	ROCPROFILER_SCRATCH_ALLOC_FLAG_USE_ONCE = 1, /* for one dispatch */
	ROCPROFILER_SCRATCH_ALLOC_FLAG_ALT = 2       /* the alternative scratch memory */
} rocprofiler_scratch_alloc_flag_t;

#endif
