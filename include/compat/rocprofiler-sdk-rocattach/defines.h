/* SPDX-License-Identifier: MIT */
/* Macros that all headers of this folder use. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCATTACH_DEFINES_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCATTACH_DEFINES_H

/* Attributes of exported functions. Programs may define these macros before including the header.
 */
#ifndef ROCATTACH_ATTRIBUTE
#define ROCATTACH_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#endif
#ifndef ROCATTACH_PUBLIC_API
#define ROCATTACH_PUBLIC_API ROCATTACH_ATTRIBUTE(visibility("default"))
#endif
#ifndef ROCATTACH_HIDDEN_API
#define ROCATTACH_HIDDEN_API ROCATTACH_ATTRIBUTE(visibility("hidden"))
#endif
#ifndef ROCATTACH_EXPORT_DECORATOR
#define ROCATTACH_EXPORT_DECORATOR ROCATTACH_PUBLIC_API
#endif
#ifndef ROCATTACH_IMPORT_DECORATOR
#define ROCATTACH_IMPORT_DECORATOR
#endif
#define ROCATTACH_EXPORT ROCATTACH_EXPORT_DECORATOR
#define ROCATTACH_IMPORT ROCATTACH_IMPORT_DECORATOR
#ifndef ROCATTACH_API
#ifdef ROCATTACH_EXPORTS
#define ROCATTACH_API ROCATTACH_EXPORT
#else
#define ROCATTACH_API ROCATTACH_IMPORT
#endif
#endif
#ifndef ROCATTACH_NONNULL
#define ROCATTACH_NONNULL(...) __attribute__((nonnull(__VA_ARGS__)))
#endif

#ifdef __cplusplus
#define ROCATTACH_EXTERN_C_INIT extern "C" {
#define ROCATTACH_EXTERN_C_FINI }
#else
#define ROCATTACH_EXTERN_C_INIT
#define ROCATTACH_EXTERN_C_FINI
#endif

#endif
