/* SPDX-License-Identifier: MIT */
/* Tables of the rocDecode API. This library does not record the API. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCDECODE_TABLE_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCDECODE_TABLE_ID_H

typedef enum rocprofiler_rocdecode_table_id_t {
	ROCPROFILER_ROCDECODE_TABLE_ID_NONE = -1,
	ROCPROFILER_ROCDECODE_TABLE_ID_LAST = 0
} rocprofiler_rocdecode_table_id_t;

#endif
