/* SPDX-License-Identifier: MIT */
/* Operations of rccl's API. This library does not record that API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_API_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_API_ID_H

typedef enum rocprofiler_rccl_api_id_t {
	ROCPROFILER_RCCL_API_ID_NONE = -1,
	ROCPROFILER_RCCL_API_ID_LAST = 0
} rocprofiler_rccl_api_id_t;

#endif
