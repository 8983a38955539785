/* SPDX-License-Identifier: MIT */
/* Streaming counters. Not supported, but declared so that clients compile. The function returns
 * NOT_IMPLEMENTED. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_SPM_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_SPM_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

typedef struct rocprofiler_spm_record_t {
	rocprofiler_counter_record_t *counters;
	uint64_t counters_count;
} rocprofiler_spm_record_t;

rocprofiler_status_t rocprofiler_configure_spm_service(
	rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
	rocprofiler_counter_config_id_t counter_config, uint64_t interval) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
