/* SPDX-License-Identifier: MIT */
/* Buffers, which deliver records in batches. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_BUFFER_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_BUFFER_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/* @headers: headers and their records are valid during the callback. @drop_count: number of records
 *           dropped since the buffer was created. */
typedef void (*rocprofiler_buffer_tracing_cb_t)(rocprofiler_context_id_t context,
						rocprofiler_buffer_id_t buffer_id,
						rocprofiler_record_header_t **headers,
						size_t num_headers, void *data,
						uint64_t drop_count);

/* @size, @watermark: in bytes. */
rocprofiler_status_t rocprofiler_create_buffer(rocprofiler_context_id_t context, size_t size,
					       size_t watermark, rocprofiler_buffer_policy_t policy,
					       rocprofiler_buffer_tracing_cb_t callback,
					       void *callback_data,
					       rocprofiler_buffer_id_t *buffer_id) ROCPROFILER_API
	ROCPROFILER_NONNULL(5, 7);
rocprofiler_status_t rocprofiler_destroy_buffer(rocprofiler_buffer_id_t buffer_id) ROCPROFILER_API;
/* Deliver all records in a buffer. They have been delivered when the function returns. */
rocprofiler_status_t rocprofiler_flush_buffer(rocprofiler_buffer_id_t buffer_id) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
