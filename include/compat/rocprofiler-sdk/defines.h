/* SPDX-License-Identifier: MIT */
/* Macros that all headers of this folder use. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_DEFINES_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_DEFINES_H

#include <stdint.h>

#define ROCPROFILER_SDK_VERSION_0_0

/* Attributes of exported functions, and warnings for deprecated and experimental functions. Clients
 * may define these macros before including the header. */
#ifndef ROCPROFILER_ATTRIBUTE
#define ROCPROFILER_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#endif
#ifndef ROCPROFILER_PUBLIC_API
#define ROCPROFILER_PUBLIC_API ROCPROFILER_ATTRIBUTE(visibility("default"))
#endif
#ifndef ROCPROFILER_HIDDEN_API
#define ROCPROFILER_HIDDEN_API ROCPROFILER_ATTRIBUTE(visibility("hidden"))
#endif
#ifndef ROCPROFILER_EXPORT_DECORATOR
#define ROCPROFILER_EXPORT_DECORATOR ROCPROFILER_PUBLIC_API
#endif
#ifndef ROCPROFILER_IMPORT_DECORATOR
#define ROCPROFILER_IMPORT_DECORATOR
#endif
#define ROCPROFILER_EXPORT ROCPROFILER_EXPORT_DECORATOR
#define ROCPROFILER_IMPORT ROCPROFILER_IMPORT_DECORATOR
#ifndef ROCPROFILER_API
#ifdef rocprofiler_EXPORTS
#define ROCPROFILER_API ROCPROFILER_EXPORT
#else
#define ROCPROFILER_API ROCPROFILER_IMPORT
#endif
#endif
#ifndef ROCPROFILER_NONNULL
#define ROCPROFILER_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#endif

#ifdef __cplusplus
#define ROCPROFILER_EXTERN_C_INIT               extern "C" {
#define ROCPROFILER_EXTERN_C_FINI               }
#define ROCPROFILER_CXX_CODE(...)               __VA_ARGS__
#define ROCPROFILER_UINT64_C(value)             uint64_t(value)
#define ROCPROFILER_HANDLE_LITERAL(type, value) (type{value})
#else
#define ROCPROFILER_EXTERN_C_INIT
#define ROCPROFILER_EXTERN_C_FINI
#define ROCPROFILER_CXX_CODE(...)
#define ROCPROFILER_UINT64_C(value)             UINT64_C(value)
#define ROCPROFILER_HANDLE_LITERAL(type, value) ((type){value})
#endif

#ifndef ROCPROFILER_SDK_DEPRECATED_WARNINGS
#define ROCPROFILER_SDK_DEPRECATED_WARNINGS 0
#endif
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_WARNINGS
#define ROCPROFILER_SDK_EXPERIMENTAL_WARNINGS 0
#endif
#if defined(__cplusplus) && __cplusplus >= 201402L
#define ROCPROFILER_SDK_DEPRECATED_MESSAGE(...) [[deprecated(__VA_ARGS__)]]
#else
#define ROCPROFILER_SDK_DEPRECATED_MESSAGE(...) __attribute__((deprecated))
#endif
#if ROCPROFILER_SDK_DEPRECATED_WARNINGS > 0
#define ROCPROFILER_SDK_DEPRECATED(...) ROCPROFILER_SDK_DEPRECATED_MESSAGE(__VA_ARGS__)
#else
#define ROCPROFILER_SDK_DEPRECATED(...)
#endif
/* Upstream marks much of the API as experimental and can warn about its use. This library's API is
 * stable. */
#define ROCPROFILER_SDK_EXPERIMENTAL

#ifndef ROCPROFILER_SDK_BETA_COMPAT
#define ROCPROFILER_SDK_BETA_COMPAT 1
#endif
#if ROCPROFILER_SDK_BETA_COMPAT > 0
#define ROCPROFILER_SDK_BETA_COMPAT_SUPPORTED 1
#endif

#define ROCPROFILER_SDK_COMPUTE_VERSION_VALUE(base, major, minor, patch) \
	(((base) * (base) * (major)) + ((base) * (minor)) + (patch))
#define ROCPROFILER_SDK_COMPUTE_VERSION(major, minor, patch) \
	ROCPROFILER_SDK_COMPUTE_VERSION_VALUE(100, major, minor, patch)

#endif
