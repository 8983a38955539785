/* SPDX-License-Identifier: MIT */
/* Operations of the rocJPEG API. This library does not record the API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCJPEG_API_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCJPEG_API_ID_H

typedef enum rocprofiler_rocjpeg_api_id_t {
	ROCPROFILER_ROCJPEG_API_ID_NONE = -1,
	ROCPROFILER_ROCJPEG_API_ID_LAST = 0
} rocprofiler_rocjpeg_api_id_t;

#endif
