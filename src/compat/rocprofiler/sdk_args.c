/* SPDX-License-Identifier: MIT */
/* Arguments of a record, one by one, as text. */
#include "sdk.h"

SDK_EXPORT rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operation_args(
	rocprofiler_callback_tracing_record_t record, rocprofiler_callback_tracing_operation_args_cb_t callback, int32_t max_dereference_count,
	void *user_data)
{
	(void)record, (void)callback, (void)max_dereference_count, (void)user_data;
	return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_iterate_buffer_tracing_record_args(rocprofiler_record_header_t record,
									       rocprofiler_buffer_tracing_operation_args_cb_t callback,
									       void *user_data)
{
	(void)record, (void)callback, (void)user_data;
	return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}
