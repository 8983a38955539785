/* SPDX-License-Identifier: MIT */
/* The API of rocprofiler-sdk 1.0.0 on gputap (include/gputap/tool.h). Includes all headers of the
 * API except registration.h. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_ROCPROFILER_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_ROCPROFILER_H

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/version.h>

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/counter_config.h>
#include <rocprofiler-sdk/counters.h>
#include <rocprofiler-sdk/device_counting_service.h>
#include <rocprofiler-sdk/dispatch_counting_service.h>
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/hip.h>
#include <rocprofiler-sdk/hsa.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <rocprofiler-sdk/internal_threading.h>
#include <rocprofiler-sdk/marker.h>
#include <rocprofiler-sdk/ompt.h>
#include <rocprofiler-sdk/pc_sampling.h>
#include <rocprofiler-sdk/rccl.h>
#include <rocprofiler-sdk/rocdecode.h>
#include <rocprofiler-sdk/rocjpeg.h>
#include <rocprofiler-sdk/deprecated/profile_config.h>
#include <rocprofiler-sdk/deprecated/version_0_5.h>

ROCPROFILER_EXTERN_C_INIT

/* Store the library's version. Each pointer may be NULL. */
rocprofiler_status_t rocprofiler_get_version(uint32_t *major, uint32_t *minor,
					     uint32_t *patch) ROCPROFILER_API;
rocprofiler_status_t rocprofiler_get_version_triplet(rocprofiler_version_triplet_t *info)
	ROCPROFILER_API ROCPROFILER_NONNULL(1);

/* Return the time in ns on the clock that all records use, CLOCK_BOOTTIME. */
rocprofiler_status_t rocprofiler_get_timestamp(rocprofiler_timestamp_t *ts) ROCPROFILER_API
	ROCPROFILER_NONNULL(1);
/* Return the calling thread's id, as gettid() does. */
rocprofiler_status_t rocprofiler_get_thread_id(rocprofiler_thread_id_t *tid) ROCPROFILER_API
	ROCPROFILER_NONNULL(1);

/* Return the name, or a description, of a status; NULL for an unknown status. */
const char *rocprofiler_get_status_name(rocprofiler_status_t status) ROCPROFILER_API;
const char *rocprofiler_get_status_string(rocprofiler_status_t status) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
