/* SPDX-License-Identifier: MIT */
/* Version of rocprofiler-sdk whose attach library this one is compatible with. This includes the
 * soname librocprofiler-sdk-rocattach.so.1. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCATTACH_VERSION_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCATTACH_VERSION_H

#define ROCATTACH_VERSION_MAJOR  1
#define ROCATTACH_VERSION_MINOR  3
#define ROCATTACH_VERSION_PATCH  0
#define ROCATTACH_SOVERSION      1
#define ROCATTACH_VERSION_STRING "1.3.0"
#define ROCATTACH_VERSION \
	(10000 * ROCATTACH_VERSION_MAJOR + 100 * ROCATTACH_VERSION_MINOR + ROCATTACH_VERSION_PATCH)

#endif
