/* SPDX-License-Identifier: MIT */
/* HIP's tables. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_HIP_TABLE_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_HIP_TABLE_ID_H

typedef enum rocprofiler_hip_table_id_t {
	ROCPROFILER_HIP_TABLE_ID_NONE = -1,
	ROCPROFILER_HIP_TABLE_ID_Compiler = 0,
	ROCPROFILER_HIP_TABLE_ID_Runtime = 1,
	ROCPROFILER_HIP_TABLE_ID_LAST = 2
} rocprofiler_hip_table_id_t;

#endif
