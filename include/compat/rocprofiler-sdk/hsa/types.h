/* SPDX-License-Identifier: MIT */
/* HSA's types. They come from HSA's headers, version 5.2 or later. Types that the headers' version
 * lacks are declared here. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_TYPES_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_TYPES_H

#include <stdint.h>

#if defined(GPUTAP_ROCPROFILER_OPAQUE) || !defined(__has_include)
#define GPUTAP_ROCPROFILER_NO_HSA
#elif !__has_include(<hsa/hsa_ext_amd.h>)
#define GPUTAP_ROCPROFILER_NO_HSA
#endif

#ifdef GPUTAP_ROCPROFILER_NO_HSA
typedef struct hsa_agent_s {
	uint64_t handle;
} hsa_agent_t;
#else
#include <rocprofiler-sdk/hsa/api_trace_version.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_finalize.h>
#include <hsa/hsa_ext_image.h>
#include <hsa/hsa_ven_amd_loader.h>

#define GPUTAP_HSA_AMD_VERSION \
	(HSA_AMD_INTERFACE_VERSION_MAJOR * 100 + HSA_AMD_INTERFACE_VERSION_MINOR)
#if GPUTAP_HSA_AMD_VERSION < 104
typedef struct hsa_amd_vmem_alloc_handle_s {
	uint64_t handle;
} hsa_amd_vmem_alloc_handle_t;
typedef int hsa_amd_memory_type_t;
typedef struct hsa_amd_memory_access_desc_s hsa_amd_memory_access_desc_t;
#endif
#if GPUTAP_HSA_AMD_VERSION < 106
typedef int hsa_queue_info_attribute_t;
#endif
#if GPUTAP_HSA_AMD_VERSION < 114
typedef struct hsa_amd_ais_file_handle_s {
	uint64_t handle;
} hsa_amd_ais_file_handle_t;
#endif
#undef GPUTAP_HSA_AMD_VERSION
#if !defined(HSA_IMAGE_API_TABLE_STEP_VERSION) || HSA_IMAGE_API_TABLE_STEP_VERSION < 1
typedef struct hsa_ext_sampler_descriptor_v2_s hsa_ext_sampler_descriptor_v2_t;
#endif

/* Copied from the runtime's C++ header of its tables, the only header that declares these types. */
typedef void (*hsa_amd_queue_intercept_packet_writer)(const void *pkts, uint64_t pkt_count);
typedef void (*hsa_amd_queue_intercept_handler)(const void *pkts, uint64_t pkt_count,
						uint64_t user_pkt_index, void *data,
						hsa_amd_queue_intercept_packet_writer writer);
typedef void (*hsa_amd_runtime_queue_notifier)(const hsa_queue_t *queue, hsa_agent_t agent,
					       void *data);
#endif

#endif
