/* SPDX-License-Identifier: MIT */
/* Types that agent.h and dispatch.h share. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_CORE_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_CORE_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hsa.h>

ROCPROFILER_EXTERN_C_INIT

typedef enum rocprofiler_thread_trace_parameter_type_t {
	ROCPROFILER_THREAD_TRACE_PARAMETER_TARGET_CU = 0,
	ROCPROFILER_THREAD_TRACE_PARAMETER_SHADER_ENGINE_MASK = 1,
	ROCPROFILER_THREAD_TRACE_PARAMETER_BUFFER_SIZE = 2,
	ROCPROFILER_THREAD_TRACE_PARAMETER_SIMD_SELECT = 3,
	ROCPROFILER_THREAD_TRACE_PARAMETER_PERFCOUNTERS_CTRL = 4,
	ROCPROFILER_THREAD_TRACE_PARAMETER_PERFCOUNTER = 5,
	ROCPROFILER_THREAD_TRACE_PARAMETER_SERIALIZE_ALL = 6,
	ROCPROFILER_THREAD_TRACE_PARAMETER_LAST
} rocprofiler_thread_trace_parameter_type_t;

typedef struct rocprofiler_thread_trace_parameter_t {
	rocprofiler_thread_trace_parameter_type_t type;
	union {
		uint64_t value;
		struct {
			rocprofiler_counter_id_t counter_id;
			uint64_t simd_mask : 4;
		};
	};
} rocprofiler_thread_trace_parameter_t;

/* Receive the trace data of a shader engine. */
typedef void (*rocprofiler_thread_trace_shader_data_callback_t)(rocprofiler_agent_id_t agent,
								int64_t shader_engine_id,
								void *data, size_t data_size,
								rocprofiler_user_data_t userdata);

ROCPROFILER_EXTERN_C_FINI

#endif
