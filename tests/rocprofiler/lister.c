/* SPDX-License-Identifier: MIT */
/* A tool with a context for each service, and a context that contains only retirement. Writes a
 * line for each notification to $LISTER_FILE. */
#include <stdio.h>
#include <stdlib.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#define NEED(call)                                                       \
	do {                                                             \
		rocprofiler_status_t status_ = (call);                   \
		if (status_ != ROCPROFILER_STATUS_SUCCESS) {             \
			fprintf(stderr, "lister: %s: %s\n", #call,       \
				rocprofiler_get_status_string(status_)); \
			exit(1);                                         \
		}                                                        \
	} while (0)

/* Format of the correlation in all lines of a context. */
#define WHOSE "id=%lu external=%lu thread=%lu"
#define TIMES "start=%lu end=%lu"

enum { TOLD, RECORDED, WORK_TOLD, WORK_RECORDED, OBJECTS, RETIRED, COUNTED, CONTEXTS };
static rocprofiler_context_id_t contexts[CONTEXTS];
static rocprofiler_buffer_id_t buffers[CONTEXTS];
static FILE *file;

static rocprofiler_timestamp_t now(void)
{
	rocprofiler_timestamp_t ns = 0;

	NEED(rocprofiler_get_timestamp(&ns));
	return ns;
}

static int external_id(rocprofiler_thread_id_t thread, rocprofiler_context_id_t context,
		       rocprofiler_external_correlation_id_request_kind_t kind,
		       rocprofiler_tracing_operation_t operation, uint64_t internal,
		       rocprofiler_user_data_t *external, void *data)
{
	(void)context, (void)kind, (void)operation, (void)internal, (void)data;
	external->value = thread;
	return 0;
}

static const char *name_of(rocprofiler_callback_tracing_kind_t kind,
			   rocprofiler_tracing_operation_t operation)
{
	const char *name = "?";
	uint64_t length;

	NEED(rocprofiler_query_callback_tracing_kind_operation_name(kind, operation, &name,
								    &length));
	return name;
}

static void on_object(const rocprofiler_callback_tracing_record_t *r)
{
	const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *symbol =
		r->payload;
	const rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t *host =
		r->payload;
	const rocprofiler_callback_tracing_code_object_load_data_t *object = r->payload;

	if (r->operation == ROCPROFILER_CODE_OBJECT_LOAD)
		fprintf(file, "object phase=%d object=%lu size=%lu bytes=%lu\n", r->phase,
			object->code_object_id, object->size, object->load_size);
	else if (r->operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER)
		fprintf(file, "symbol phase=%d kernel=%lu object=%lu size=%lu name=%s\n", r->phase,
			symbol->kernel_id, symbol->code_object_id, symbol->size,
			symbol->kernel_name);
	else
		fprintf(file, "host phase=%d kernel=%lu size=%lu name=%s\n", r->phase,
			host->kernel_id, host->size, host->device_function);
}

static void on_event(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user_data,
		     void *data)
{
	const rocprofiler_callback_tracing_kernel_dispatch_data_t *dispatch = r.payload;
	const rocprofiler_callback_tracing_memory_copy_data_t *copy = r.payload;
	const uint64_t *size = r.payload;

	(void)user_data, (void)data;
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT)
		on_object(&r);
	else if (r.kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH)
		fprintf(file,
			"told_dispatch phase=%d operation=%d " WHOSE
			" size=%lu kernel=%lu dispatch=%lu " TIMES "\n",
			r.phase, r.operation, r.correlation_id.internal,
			r.correlation_id.external.value, r.thread_id, dispatch->size,
			dispatch->dispatch_info.kernel_id, dispatch->dispatch_info.dispatch_id,
			dispatch->start_timestamp, dispatch->end_timestamp);
	else if (r.kind == ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY)
		fprintf(file,
			"told_copy phase=%d operation=%s " WHOSE " size=%lu bytes=%lu " TIMES "\n",
			r.phase, name_of(r.kind, r.operation), r.correlation_id.internal,
			r.correlation_id.external.value, r.thread_id, copy->size, copy->bytes,
			copy->start_timestamp, copy->end_timestamp);
	else
		fprintf(file,
			"told phase=%d operation=%s " WHOSE " ancestor=%lu size=%lu time=%lu\n",
			r.phase, name_of(r.kind, r.operation), r.correlation_id.internal,
			r.correlation_id.external.value, r.thread_id, r.correlation_id.ancestor,
			*size, now());
}

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		       rocprofiler_record_header_t **headers, size_t count, void *data,
		       uint64_t dropped)
{
	(void)c, (void)b, (void)data;
	if (dropped)
		fprintf(file, "dropped count=%lu\n", dropped);
	for (size_t i = 0; i < count; i++) {
		const rocprofiler_buffer_tracing_hip_api_record_t *call = headers[i]->payload;
		const rocprofiler_buffer_tracing_correlation_id_retirement_record_t *end =
			headers[i]->payload;
		const rocprofiler_buffer_tracing_memory_copy_record_t *copy = headers[i]->payload;
		const rocprofiler_buffer_tracing_kernel_dispatch_record_t *dispatch =
			headers[i]->payload;

		switch (headers[i]->kind) {
		case ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT:
			fprintf(file, "retired id=%lu size=%lu time=%lu\n",
				end->internal_correlation_id, end->size, end->timestamp);
			break;
		case ROCPROFILER_BUFFER_TRACING_MEMORY_COPY:
			fprintf(file,
				"copy operation=%s " WHOSE
				" size=%lu bytes=%lu from=%lu to=%lu " TIMES "\n",
				name_of(ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, copy->operation),
				copy->correlation_id.internal, copy->correlation_id.external.value,
				copy->thread_id, copy->size, copy->bytes, copy->src_agent_id.handle,
				copy->dst_agent_id.handle, copy->start_timestamp,
				copy->end_timestamp);
			break;
		case ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH:
			fprintf(file,
				"dispatch " WHOSE " size=%lu kernel=%lu dispatch=%lu " TIMES "\n",
				dispatch->correlation_id.internal,
				dispatch->correlation_id.external.value, dispatch->thread_id,
				dispatch->size, dispatch->dispatch_info.kernel_id,
				dispatch->dispatch_info.dispatch_id, dispatch->start_timestamp,
				dispatch->end_timestamp);
			break;
		default:
			fprintf(file,
				"call operation=%s " WHOSE " ancestor=%lu size=%lu " TIMES "\n",
				name_of((rocprofiler_callback_tracing_kind_t)call->kind,
					call->operation),
				call->correlation_id.internal, call->correlation_id.external.value,
				call->thread_id, call->correlation_id.ancestor, call->size,
				call->start_timestamp, call->end_timestamp);
		}
	}
}

static void count_dispatch(rocprofiler_dispatch_counting_service_data_t dispatch,
			   rocprofiler_counter_config_id_t *config,
			   rocprofiler_user_data_t *user_data, void *data)
{
	(void)dispatch, (void)config, (void)user_data, (void)data;
	fprintf(file, "counted\n");
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	static const rocprofiler_callback_tracing_kind_t apis[] = {
		ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API};

	(void)finalize, (void)data;
	file = fopen(getenv("LISTER_FILE"), "w");
	fprintf(file, "begins time=%lu\n", now());
	for (int i = 0; i < CONTEXTS; i++) {
		NEED(rocprofiler_create_context(&contexts[i]));
		NEED(rocprofiler_create_buffer(contexts[i], 8192, 7936,
					       ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records, NULL,
					       &buffers[i]));
		NEED(rocprofiler_configure_external_correlation_id_request_service(
			contexts[i], NULL, 0, external_id, NULL));
	}
	for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
		NEED(rocprofiler_configure_callback_tracing_service(contexts[TOLD], apis[i], NULL,
								    0, on_event, NULL));
		NEED(rocprofiler_configure_buffer_tracing_service(
			contexts[RECORDED], (rocprofiler_buffer_tracing_kind_t)apis[i], NULL, 0,
			buffers[RECORDED]));
	}
	NEED(rocprofiler_configure_callback_tracing_service(
		contexts[WORK_TOLD], ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, NULL, 0,
		on_event, NULL));
	NEED(rocprofiler_configure_callback_tracing_service(
		contexts[WORK_TOLD], ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, NULL, 0, on_event,
		NULL));
	NEED(rocprofiler_configure_buffer_tracing_service(
		contexts[WORK_RECORDED], ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0,
		buffers[WORK_RECORDED]));
	NEED(rocprofiler_configure_buffer_tracing_service(contexts[WORK_RECORDED],
							  ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
							  NULL, 0, buffers[WORK_RECORDED]));
	NEED(rocprofiler_configure_callback_tracing_service(
		contexts[OBJECTS], ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, NULL, 0, on_event,
		NULL));
	NEED(rocprofiler_configure_buffer_tracing_service(
		contexts[RETIRED], ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL, 0,
		buffers[RETIRED]));
	NEED(rocprofiler_configure_buffer_dispatch_counting_service(contexts[COUNTED],
								    buffers[COUNTED],
								    count_dispatch, NULL));
	for (int i = 0; i < COUNTED; i++)
		NEED(rocprofiler_start_context(contexts[i]));
	fprintf(file, "counting status=%s\n",
		rocprofiler_get_status_name(rocprofiler_start_context(contexts[COUNTED])));
	fprintf(file, "driver status=%s\n",
		rocprofiler_get_status_name(rocprofiler_configure_buffer_tracing_service(
			contexts[COUNTED], ROCPROFILER_BUFFER_TRACING_KFD_QUEUE, NULL, 0,
			buffers[COUNTED])));
	return 0;
}

static void finalize(void *data)
{
	(void)data;
	for (int i = 0; i < CONTEXTS; i++)
		NEED(rocprofiler_flush_buffer(buffers[i]));
	fprintf(file, "ends time=%lu\n", now());
	fclose(file);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize,
							     NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "lister";
	return &result;
}
