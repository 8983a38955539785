/* SPDX-License-Identifier: MIT */
/* NEEDSWORK: hardware counters, program counter samples, thread traces and OpenMP need hardware or
 * a runtime that is not available here. If a client requests such a service, the library reports
 * that the service is missing. README.md and docs/internals/conformance.md list the missing
 * services. */
#include "sdk.h"

#define ABSENT(name, status, ...)                         \
	SDK_EXPORT rocprofiler_status_t name(__VA_ARGS__) \
	{                                                 \
		return ROCPROFILER_STATUS_ERROR_##status; \
	}

#pragma GCC diagnostic ignored "-Wunused-parameter"

ABSENT(rocprofiler_query_record_counter_id, NO_HARDWARE_COUNTERS,
       rocprofiler_counter_instance_id_t id, rocprofiler_counter_id_t *counter_id)
ABSENT(rocprofiler_query_record_dimension_position, NO_HARDWARE_COUNTERS,
       rocprofiler_counter_instance_id_t id, rocprofiler_counter_dimension_id_t dim, size_t *pos)
ABSENT(rocprofiler_query_counter_info, COUNTER_NOT_FOUND, rocprofiler_counter_id_t counter_id,
       rocprofiler_counter_info_version_id_t version, void *info)
ABSENT(rocprofiler_iterate_agent_supported_counters, NO_HARDWARE_COUNTERS,
       rocprofiler_agent_id_t agent_id, rocprofiler_available_counters_cb_t cb, void *user_data)
ABSENT(rocprofiler_create_counter, NO_HARDWARE_COUNTERS, const char *name, size_t name_len,
       const char *expr, size_t expr_len, const char *description, size_t description_len,
       rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *counter_id)
ABSENT(rocprofiler_create_counter_config, NO_HARDWARE_COUNTERS, rocprofiler_agent_id_t agent_id,
       rocprofiler_counter_id_t *counters_list, size_t counters_count,
       rocprofiler_counter_config_id_t *config_id)
ABSENT(rocprofiler_destroy_counter_config, PROFILE_NOT_FOUND,
       rocprofiler_counter_config_id_t config_id)
ABSENT(rocprofiler_iterate_counter_dimensions, COUNTER_NOT_FOUND, rocprofiler_counter_id_t id,
       rocprofiler_available_dimensions_cb_t info_cb, void *user_data)
ABSENT(rocprofiler_query_counter_instance_count, COUNTER_NOT_FOUND, rocprofiler_agent_id_t agent_id,
       rocprofiler_counter_id_t counter_id, size_t *instance_count)
ABSENT(rocprofiler_load_counter_definition, NO_HARDWARE_COUNTERS, const char *yaml, size_t size,
       rocprofiler_counter_flag_t flags)
ABSENT(rocprofiler_configure_device_counting_service, NOT_IMPLEMENTED,
       rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
       rocprofiler_agent_id_t agent_id, rocprofiler_device_counting_service_cb_t cb,
       void *user_data)
ABSENT(rocprofiler_sample_device_counting_service, NOT_IMPLEMENTED,
       rocprofiler_context_id_t context_id, rocprofiler_user_data_t user_data,
       rocprofiler_counter_flag_t flags, rocprofiler_counter_record_t *output_records,
       size_t *rec_count)
ABSENT(rocprofiler_configure_pc_sampling_service, NOT_IMPLEMENTED,
       rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
       rocprofiler_pc_sampling_method_t method, rocprofiler_pc_sampling_unit_t unit,
       uint64_t interval, rocprofiler_buffer_id_t buffer_id, int flags)
ABSENT(rocprofiler_query_pc_sampling_agent_configurations, NOT_IMPLEMENTED,
       rocprofiler_agent_id_t agent_id, rocprofiler_available_pc_sampling_configurations_cb_t cb,
       void *user_data)
ABSENT(rocprofiler_configure_spm_service, NOT_IMPLEMENTED, rocprofiler_context_id_t context_id,
       rocprofiler_buffer_id_t buffer_id, rocprofiler_counter_config_id_t counter_config,
       uint64_t interval)

ABSENT(rocprofiler_configure_device_thread_trace_service, NOT_IMPLEMENTED,
       rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
       rocprofiler_thread_trace_parameter_t *parameters, size_t num_parameters,
       rocprofiler_thread_trace_shader_data_callback_t shader_callback,
       rocprofiler_user_data_t callback_userdata)
ABSENT(rocprofiler_configure_dispatch_thread_trace_service, NOT_IMPLEMENTED,
       rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
       rocprofiler_thread_trace_parameter_t *parameters, size_t num_parameters,
       rocprofiler_thread_trace_dispatch_callback_t dispatch_callback,
       rocprofiler_thread_trace_shader_data_callback_t shader_callback, void *callback_userdata)
ABSENT(rocprofiler_thread_trace_decoder_codeobj_load, INVALID_ARGUMENT,
       rocprofiler_thread_trace_decoder_id_t handle, uint64_t load_id, uint64_t load_addr,
       uint64_t load_size, const void *data, uint64_t size)
ABSENT(rocprofiler_thread_trace_decoder_codeobj_unload, INVALID_ARGUMENT,
       rocprofiler_thread_trace_decoder_id_t handle, uint64_t load_id)
ABSENT(rocprofiler_trace_decode, INVALID_ARGUMENT, rocprofiler_thread_trace_decoder_id_t handle,
       rocprofiler_thread_trace_decoder_callback_t callback, void *data, uint64_t size,
       void *userdata)

SDK_EXPORT rocprofiler_status_t rocprofiler_thread_trace_decoder_create(
	rocprofiler_thread_trace_decoder_id_t *handle, const char *path)
{
	handle->handle = 0;
	return ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE;
}

SDK_EXPORT void rocprofiler_thread_trace_decoder_destroy(
	rocprofiler_thread_trace_decoder_id_t handle)
{
}

SDK_EXPORT const char *rocprofiler_thread_trace_decoder_info_string(
	rocprofiler_thread_trace_decoder_id_t handle, rocprofiler_thread_trace_decoder_info_t info)
{
	return NULL;
}

/* Accept dispatch counting, because tools configure it before they know whether they need it. The
 * context does not start. */
static rocprofiler_status_t configure_counting(rocprofiler_context_id_t id)
{
	struct sdk_context *c = sdk_context_of(id);
	rocprofiler_status_t status = sdk_may_configure();

	if (status == ROCPROFILER_STATUS_SUCCESS && !c)
		status = ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (status == ROCPROFILER_STATUS_SUCCESS && c->counts)
		status = ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
	if (status == ROCPROFILER_STATUS_SUCCESS)
		c->counts = true;
	return status;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_configure_buffer_dispatch_counting_service(
	rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
	rocprofiler_dispatch_counting_service_cb_t callback, void *callback_data_args)
{
	if (!callback)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	return sdk_buffer_of(buffer_id) ? configure_counting(context_id)
					: ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_configure_callback_dispatch_counting_service(
	rocprofiler_context_id_t context_id,
	rocprofiler_dispatch_counting_service_cb_t dispatch_callback, void *dispatch_callback_args,
	rocprofiler_dispatch_counting_record_cb_t record_callback, void *record_callback_args)
{
	return dispatch_callback && record_callback ? configure_counting(context_id)
						    : ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
}

SDK_EXPORT const char *rocprofiler_get_pc_sampling_instruction_type_name(
	rocprofiler_pc_sampling_instruction_type_t instruction_type)
{
	return NULL;
}

SDK_EXPORT const char *rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(
	rocprofiler_pc_sampling_instruction_not_issued_reason_t not_issued_reason)
{
	return NULL;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_ompt_is_initialized(int *status)
{
	if (!status)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*status = 0;
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_ompt_is_finalized(int *status)
{
	if (!status)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*status = 0;
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT struct ompt_start_tool_result_t *rocprofiler_ompt_start_tool(unsigned int omp_version,
									const char *runtime_version)
{
	return NULL;
}
