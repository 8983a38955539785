/* SPDX-License-Identifier: MIT */
/* A tool that prints the arguments of hipMemcpyAsync in the way that rocprofiler-sdk's document
 * "Callback tracing services" does. At exit, the tool prints the results of checks of its
 * records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

enum { IDS = 4096 };
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static unsigned calls, retired, wrong, dispatches, copies, before_retirement = 1;
static uint64_t highest, called_at[IDS], retired_at[IDS];

static int print(rocprofiler_callback_tracing_kind_t kind,
		 rocprofiler_tracing_operation_t operation, uint32_t number,
		 const void *const address, int32_t indirection, const char *type, const char *name,
		 const char *text, int32_t dereferenced, void *data)
{
	(void)kind, (void)operation, (void)address, (void)dereferenced, (void)data;
	printf("%u %s %s %d %s\n", number, type, name, indirection, text);
	return 0;
}

static void on_call(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user_data,
		    void *data)
{
	(void)data;
	if (r.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
		user_data->value = r.correlation_id.internal;
	else if (user_data->value != r.correlation_id.internal)
		wrong++;
	if (r.phase == ROCPROFILER_CALLBACK_PHASE_EXIT &&
	    r.operation == ROCPROFILER_HIP_RUNTIME_API_ID_hipMemcpyAsync)
		rocprofiler_iterate_callback_tracing_kind_operation_args(r, print, 0, NULL);
}

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		       rocprofiler_record_header_t **headers, size_t count, void *data,
		       uint64_t dropped)
{
	(void)c, (void)b, (void)data;
	wrong += dropped != 0;
	for (size_t i = 0; i < count; i++) {
		const rocprofiler_buffer_tracing_hip_api_record_t *call = headers[i]->payload;
		const rocprofiler_buffer_tracing_correlation_id_retirement_record_t *end =
			headers[i]->payload;
		const rocprofiler_buffer_tracing_memory_copy_record_t *copy = headers[i]->payload;

		switch (headers[i]->kind) {
		case ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT:
			retired++;
			retired_at[end->internal_correlation_id % IDS] = end->timestamp;
			before_retirement &=
				end->timestamp > called_at[end->internal_correlation_id % IDS];
			break;
		case ROCPROFILER_BUFFER_TRACING_MEMORY_COPY:
			copies++;
			wrong += copy->start_timestamp >= copy->end_timestamp || !copy->bytes ||
				 retired_at[copy->correlation_id.internal % IDS];
			break;
		case ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH: dispatches++; break;
		default:
			calls++;
			wrong += call->start_timestamp >= call->end_timestamp ||
				 retired_at[call->correlation_id.internal % IDS];
			called_at[call->correlation_id.internal % IDS] = call->end_timestamp;
			highest = call->correlation_id.internal > highest
					  ? call->correlation_id.internal
					  : highest;
		}
	}
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	static const rocprofiler_buffer_tracing_kind_t kinds[] = {
		ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
		ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API,
		ROCPROFILER_BUFFER_TRACING_HSA_CORE_API,
		ROCPROFILER_BUFFER_TRACING_HSA_AMD_EXT_API,
		ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
		ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
		ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT};

	(void)finalize, (void)data;
	rocprofiler_create_context(&context);
	rocprofiler_create_buffer(context, 4096, 3584, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				  on_records, NULL, &buffer);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		wrong += rocprofiler_configure_buffer_tracing_service(context, kinds[i], NULL, 0,
								      buffer) !=
			 ROCPROFILER_STATUS_SUCCESS;
	wrong += rocprofiler_configure_callback_tracing_service(
			 context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_call,
			 NULL) != ROCPROFILER_STATUS_SUCCESS;
	return rocprofiler_start_context(context);
}

static void finalize(void *data)
{
	(void)data;
	rocprofiler_flush_buffer(buffer);
	printf("wrong %u copies %u gaps %d retired %d after %u\n", wrong, copies, highest != calls,
	       retired == calls, before_retirement);
	fflush(stdout);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize,
							     NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "recorder";
	return &result;
}
