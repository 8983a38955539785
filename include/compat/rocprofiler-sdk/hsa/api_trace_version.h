/* SPDX-License-Identifier: MIT */
/* Versions of HSA's tables. They come from HSA's header if it is available, otherwise from the
 * versions that the argument structs of these headers match. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_API_TRACE_VERSION_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HSA_API_TRACE_VERSION_H

#include <rocprofiler-sdk/ext_version.h>

#if !defined(GPUTAP_ROCPROFILER_OPAQUE) && defined(__has_include)
#if __has_include(<hsa/hsa_api_trace_version.h>)
#include <hsa/hsa_api_trace_version.h>
#endif
#if defined(__cplusplus) && __has_include(<hsa/hsa_api_trace.h>)
#ifdef AMD_INTERNAL_BUILD
#include <hsa/hsa_api_trace.h>
#else
#define AMD_INTERNAL_BUILD /* without this macro, the header includes files of ROCr's source tree */
#include <hsa/hsa_api_trace.h>
#undef AMD_INTERNAL_BUILD
#endif
#endif
#endif

#ifndef HSA_API_TABLE_MAJOR_VERSION
#define HSA_API_TABLE_MAJOR_VERSION ROCPROFILER_HSA_API_TABLE_MAJOR_VERSION
#endif
#ifndef HSA_CORE_API_TABLE_MAJOR_VERSION
#define HSA_CORE_API_TABLE_MAJOR_VERSION ROCPROFILER_HSA_CORE_API_TABLE_MAJOR_VERSION
#endif
#ifndef HSA_AMD_EXT_API_TABLE_MAJOR_VERSION
#define HSA_AMD_EXT_API_TABLE_MAJOR_VERSION ROCPROFILER_HSA_AMD_EXT_API_TABLE_MAJOR_VERSION
#endif
#ifndef HSA_AMD_EXT_API_TABLE_STEP_VERSION
#define HSA_AMD_EXT_API_TABLE_STEP_VERSION ROCPROFILER_HSA_AMD_EXT_API_TABLE_STEP_VERSION
#endif

#endif
