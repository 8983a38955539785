/* SPDX-License-Identifier: MIT */
/* RCCL's only table. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_TABLE_ID_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_RCCL_TABLE_ID_H

typedef enum rocprofiler_rccl_table_id_t {
	ROCPROFILER_RCCL_TABLE_ID_NONE = -1,
	ROCPROFILER_RCCL_TABLE_ID = 0,
	ROCPROFILER_RCCL_TABLE_ID_LAST
} rocprofiler_rccl_table_id_t;

#endif
