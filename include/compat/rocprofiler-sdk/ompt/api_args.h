/* SPDX-License-Identifier: MIT */
/* Space for arguments of OpenMP's callbacks. This library does not record them. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_OMPT_API_ARGS_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_OMPT_API_ARGS_H

#include <stdint.h>

typedef union rocprofiler_ompt_args_t {
	uint64_t words[16];
} rocprofiler_ompt_args_t;

#endif
