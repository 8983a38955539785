/* SPDX-License-Identifier: MIT */
/* Space for arguments of the rocDecode API. This library does not record the API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCDECODE_API_ARGS_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCDECODE_API_ARGS_H

#include <stdint.h>

typedef union rocprofiler_rocdecode_api_retval_t {
	uint64_t uint64_t_retval;
	int32_t int32_t_retval;
	const char *const_charp_retval;
} rocprofiler_rocdecode_api_retval_t;

typedef union rocprofiler_rocdecode_api_args_t {
	uint64_t words[5];
} rocprofiler_rocdecode_api_args_t;

#endif
