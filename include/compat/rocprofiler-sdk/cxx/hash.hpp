/* SPDX-License-Identifier: MIT */
/* Defines std::hash for handles. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_HASH_HPP
#define GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_HASH_HPP

#include <cstddef>
#include <functional>

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hsa.h>
#include <rocprofiler-sdk/internal_threading.h>

#define GPUTAP_HASH_OF_HANDLE(type)                 \
	template <> struct hash<type> {             \
		size_t operator()(type value) const \
		{                                   \
			return value.handle;        \
		}                                   \
	};

namespace std
{
GPUTAP_HASH_OF_HANDLE(rocprofiler_context_id_t)
GPUTAP_HASH_OF_HANDLE(rocprofiler_agent_id_t)
GPUTAP_HASH_OF_HANDLE(rocprofiler_address_t)
GPUTAP_HASH_OF_HANDLE(rocprofiler_queue_id_t)
GPUTAP_HASH_OF_HANDLE(rocprofiler_stream_id_t)
GPUTAP_HASH_OF_HANDLE(rocprofiler_buffer_id_t)
GPUTAP_HASH_OF_HANDLE(rocprofiler_counter_id_t)
GPUTAP_HASH_OF_HANDLE(rocprofiler_counter_config_id_t)
GPUTAP_HASH_OF_HANDLE(rocprofiler_callback_thread_t)
GPUTAP_HASH_OF_HANDLE(hsa_agent_t)
#ifndef GPUTAP_ROCPROFILER_NO_HSA
GPUTAP_HASH_OF_HANDLE(hsa_signal_t)
GPUTAP_HASH_OF_HANDLE(hsa_executable_t)
GPUTAP_HASH_OF_HANDLE(hsa_region_t)
GPUTAP_HASH_OF_HANDLE(hsa_amd_memory_pool_t)
#endif
} // namespace std

#undef GPUTAP_HASH_OF_HANDLE

#endif
