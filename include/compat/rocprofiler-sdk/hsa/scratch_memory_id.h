/* SPDX-License-Identifier: MIT */
/* Scratch memory events, numbered as in HSA. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_SCRATCH_MEMORY_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_SCRATCH_MEMORY_ID_H

/* clang-format off */
#if !defined(GPUTAP_ROCPROFILER_OPAQUE) && defined(__has_include) && \
	__has_include(<hsa/hsa_amd_tool.h>)
/* clang-format on */
#include <hsa/hsa_amd_tool.h>
#else
#include <stddef.h>
#include <stdint.h>

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

typedef enum {
	HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_NONE = 0,
	HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_USE_ONCE = 1,
	HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_ALT = 2
} hsa_amd_event_scratch_alloc_flag_t;

/* Events that ROCr 6 and later passes to its listener. */
#define GPUTAP_SCRATCH_EVENT(name, ...)                   \
	typedef struct {                                  \
		hsa_amd_tool_event_kind_t kind;           \
		const struct hsa_queue_s *queue;          \
		hsa_amd_event_scratch_alloc_flag_t flags; \
		__VA_ARGS__                               \
	} hsa_amd_event_scratch_##name##_t
GPUTAP_SCRATCH_EVENT(alloc_start, uint64_t dispatch_id;);
GPUTAP_SCRATCH_EVENT(alloc_end, uint64_t dispatch_id; size_t size; size_t num_slots;);
GPUTAP_SCRATCH_EVENT(free_start, );
GPUTAP_SCRATCH_EVENT(free_end, );
GPUTAP_SCRATCH_EVENT(async_reclaim_start, );
GPUTAP_SCRATCH_EVENT(async_reclaim_end, );
#undef GPUTAP_SCRATCH_EVENT
#endif

typedef enum rocprofiler_scratch_alloc_flag_t {
	ROCPROFILER_SCRATCH_ALLOC_FLAG_NONE = 0,
	ROCPROFILER_SCRATCH_ALLOC_FLAG_USE_ONCE = 1, /* used for one dispatch */
	ROCPROFILER_SCRATCH_ALLOC_FLAG_ALT = 2       /* alternative scratch memory */
} rocprofiler_scratch_alloc_flag_t;

#endif
