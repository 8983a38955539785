/* SPDX-License-Identifier: MIT */
/* Tables of the rocJPEG API. This library does not record the API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCJPEG_TABLE_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCJPEG_TABLE_ID_H

typedef enum rocprofiler_rocjpeg_table_id_t {
	ROCPROFILER_ROCJPEG_TABLE_ID_NONE = -1,
	ROCPROFILER_ROCJPEG_TABLE_ID_LAST = 0
} rocprofiler_rocjpeg_table_id_t;

#endif
