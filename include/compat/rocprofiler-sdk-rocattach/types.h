/* SPDX-License-Identifier: MIT */
/* Types of the attach library. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCATTACH_TYPES_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCATTACH_TYPES_H

#include <stdint.h>

typedef enum rocattach_status_t {
	ROCATTACH_STATUS_SUCCESS = 0,
	ROCATTACH_STATUS_ERROR,
	ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT,
	ROCATTACH_STATUS_ERROR_NOT_SUPPORTED, /* this machine, or this process (static, musl) */
	ROCATTACH_STATUS_ERROR_PTRACE_ERROR,
	ROCATTACH_STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED,
	ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND,
	ROCATTACH_STATUS_LAST,
} rocattach_status_t;

typedef struct rocattach_version_triplet_t {
	uint32_t major;
	uint32_t minor;
	uint32_t patch;
} rocattach_version_triplet_t;

#endif
