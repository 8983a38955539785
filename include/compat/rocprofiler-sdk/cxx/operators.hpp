/* SPDX-License-Identifier: MIT */
/* Compares handles and small structs. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_OPERATORS_HPP
#define GPUTAP_COMPAT_ROCPROFILER_SDK_CXX_OPERATORS_HPP

#include <cstring>
#include <tuple>

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/counters.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hsa.h>
#include <rocprofiler-sdk/internal_threading.h>

#define GPUTAP_ORDER(type)                     \
	inline bool operator!=(type a, type b) \
	{                                      \
		return !(a == b);              \
	}                                      \
	inline bool operator>(type a, type b)  \
	{                                      \
		return b < a;                  \
	}                                      \
	inline bool operator<=(type a, type b) \
	{                                      \
		return !(b < a);               \
	}                                      \
	inline bool operator>=(type a, type b) \
	{                                      \
		return !(a < b);               \
	}
#define GPUTAP_ORDER_OF_HANDLE(type)           \
	inline bool operator==(type a, type b) \
	{                                      \
		return a.handle == b.handle;   \
	}                                      \
	inline bool operator<(type a, type b)  \
	{                                      \
		return a.handle < b.handle;    \
	}                                      \
	GPUTAP_ORDER(type)

GPUTAP_ORDER_OF_HANDLE(rocprofiler_context_id_t)
GPUTAP_ORDER_OF_HANDLE(rocprofiler_agent_id_t)
GPUTAP_ORDER_OF_HANDLE(rocprofiler_address_t)
GPUTAP_ORDER_OF_HANDLE(rocprofiler_queue_id_t)
GPUTAP_ORDER_OF_HANDLE(rocprofiler_stream_id_t)
GPUTAP_ORDER_OF_HANDLE(rocprofiler_buffer_id_t)
GPUTAP_ORDER_OF_HANDLE(rocprofiler_counter_id_t)
GPUTAP_ORDER_OF_HANDLE(rocprofiler_counter_config_id_t)
GPUTAP_ORDER_OF_HANDLE(rocprofiler_callback_thread_t)
GPUTAP_ORDER_OF_HANDLE(hsa_agent_t)
#ifndef GPUTAP_ROCPROFILER_NO_HSA
GPUTAP_ORDER_OF_HANDLE(hsa_signal_t)
GPUTAP_ORDER_OF_HANDLE(hsa_executable_t)
GPUTAP_ORDER_OF_HANDLE(hsa_region_t)
GPUTAP_ORDER_OF_HANDLE(hsa_amd_memory_pool_t)
#endif

/* Agents are ordered by id, sizes by volume first. */
inline bool operator==(const rocprofiler_agent_v0_t &a, const rocprofiler_agent_v0_t &b)
{
	return a.id == b.id;
}
inline bool operator<(const rocprofiler_agent_v0_t &a, const rocprofiler_agent_v0_t &b)
{
	return a.id < b.id;
}
GPUTAP_ORDER(const rocprofiler_agent_v0_t &)

inline bool operator==(rocprofiler_dim3_t a, rocprofiler_dim3_t b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z;
}
inline bool operator<(rocprofiler_dim3_t a, rocprofiler_dim3_t b)
{
	return std::make_tuple(a.x * a.y * a.z, a.x, a.y, a.z) <
	       std::make_tuple(b.x * b.y * b.z, b.x, b.y, b.z);
}
GPUTAP_ORDER(rocprofiler_dim3_t)

inline bool operator==(rocprofiler_version_triplet_t a, rocprofiler_version_triplet_t b)
{
	return a.major == b.major && a.minor == b.minor && a.patch == b.patch;
}
inline bool operator<(rocprofiler_version_triplet_t a, rocprofiler_version_triplet_t b)
{
	return std::tie(a.major, a.minor, a.patch) < std::tie(b.major, b.minor, b.patch);
}
GPUTAP_ORDER(rocprofiler_version_triplet_t)

#undef GPUTAP_ORDER
#undef GPUTAP_ORDER_OF_HANDLE

#endif
