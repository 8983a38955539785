/* SPDX-License-Identifier: MIT */
/* OpenMP's callbacks. This library does not record them. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_OMPT_API_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_OMPT_API_ID_H

typedef enum rocprofiler_ompt_operation_t {
	ROCPROFILER_OMPT_ID_NONE = -1,
	ROCPROFILER_OMPT_ID_LAST = 0
} rocprofiler_ompt_operation_t;

#endif
