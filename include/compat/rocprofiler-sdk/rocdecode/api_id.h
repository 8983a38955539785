/* SPDX-License-Identifier: MIT */
/* Operations of the rocDecode API. This library does not record the API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCDECODE_API_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCDECODE_API_ID_H

typedef enum rocprofiler_rocdecode_api_id_t {
	ROCPROFILER_ROCDECODE_API_ID_NONE = -1,
	ROCPROFILER_ROCDECODE_API_ID_LAST = 0
} rocprofiler_rocdecode_api_id_t;

#endif
