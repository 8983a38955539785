/* SPDX-License-Identifier: MIT */
/* Space for arguments of the rocJPEG API. This library does not record the API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCJPEG_API_ARGS_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCJPEG_API_ARGS_H

#include <stdint.h>

typedef union rocprofiler_rocjpeg_api_retval_t {
	uint64_t uint64_t_retval;
	int32_t int32_t_retval;
	int32_t rocJpegStatus_retval;
	const char *const_charp_retval;
} rocprofiler_rocjpeg_api_retval_t;

typedef union rocprofiler_rocjpeg_api_args_t {
	uint64_t words[6];
} rocprofiler_rocjpeg_api_args_t;

#endif
