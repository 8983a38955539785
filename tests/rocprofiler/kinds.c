/* SPDX-License-Identifier: MIT */
/* A client for kinds that are reported in addition to the calls that cause them. Prints one line
 * on stderr for each callback, and at exit for each record. The correlation ids are those of HIP's
 * calls, which the client also prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static const char *const phases[] = {"none", "enter", "exit"};
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static uint64_t last_hip; /* the open HIP call */

static const char *operation_of(rocprofiler_callback_tracing_record_t r)
{
	const char *name = "?";

	rocprofiler_query_callback_tracing_kind_operation_name(r.kind, r.operation, &name, NULL);
	return name;
}

static void on_hip(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user,
		   void *data)
{
	(void)user, (void)data;
	last_hip = r.phase == ROCPROFILER_CALLBACK_PHASE_ENTER ? r.correlation_id.internal : 0;
	fprintf(stderr, "%s %s %lu\n", operation_of(r), phases[r.phase],
		(unsigned long)r.correlation_id.internal);
}

static void on_kind(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user,
		    void *data)
{
	(void)data;
	fprintf(stderr, "%s %s kept %lu corr %lu%s", operation_of(r), phases[r.phase],
		(unsigned long)user->value, (unsigned long)r.correlation_id.internal,
		last_hip && r.correlation_id.internal == last_hip ? " of HIP" : "");
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_HIP_STREAM) {
		const rocprofiler_callback_tracing_hip_stream_data_t *d = r.payload;

		fprintf(stderr, " stream %lu%s\n", (unsigned long)d->stream_id.handle,
			d->stream_value.value ? "" : " null");
	} else if (r.kind == ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION) {
		const rocprofiler_callback_tracing_memory_allocation_data_t *d = r.payload;

		fprintf(stderr, " agent %lu bytes %lu address %d time %d\n",
			(unsigned long)d->agent_id.handle, (unsigned long)d->allocation_size,
			d->address.value != 0,
			d->start_timestamp && d->start_timestamp < d->end_timestamp);
	} else if (r.kind == ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API) {
		const rocprofiler_callback_tracing_marker_api_data_t *d = r.payload;

		fprintf(stderr, " %s\n",
			d->args.roctxMarkA.message ? d->args.roctxMarkA.message : "-");
	} else if (r.kind == ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY) {
		const rocprofiler_callback_tracing_scratch_memory_data_t *d = r.payload;

		fprintf(stderr, " queue %lu flags %d kind %d dispatch %lu",
			(unsigned long)d->queue_id.handle, (int)d->flags, (int)d->args_kind,
			(unsigned long)d->args.alloc_start.dispatch_id);
		fprintf(stderr, " bytes %zu slots %zu\n", d->args.alloc_end.size,
			d->args.alloc_end.num_slots);
	}
	user->value++;
}

static void on_object(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user,
		      void *data)
{
	const rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t *h =
		r.payload;
	const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *k = r.payload;
	static uint64_t last_symbol;

	(void)user, (void)data;
	if (r.operation == ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER)
		fprintf(stderr, "host %s phase %d same kernel %d function %d\n", h->device_function,
			(int)r.phase, h->kernel_id == last_symbol,
			h->host_function.value != 0 && h->host_function_id != 0 &&
				h->code_object_id != 0);
	else if (r.operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER)
		last_symbol = k->kernel_id;
}

static void on_records(rocprofiler_context_id_t ctx, rocprofiler_buffer_id_t id,
		       rocprofiler_record_header_t **headers, size_t count, void *data,
		       uint64_t dropped)
{
	(void)ctx, (void)id, (void)data, (void)dropped;
	for (size_t i = 0; i < count; i++) {
		const char *name = "?", *kind = "?";

		rocprofiler_query_buffer_tracing_kind_name(
			(rocprofiler_buffer_tracing_kind_t)headers[i]->kind, &kind, NULL);
		if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT) {
			const rocprofiler_buffer_tracing_correlation_id_retirement_record_t *r =
				headers[i]->payload;

			fprintf(stderr, "record retired %lu\n",
				(unsigned long)r->internal_correlation_id);
		} else { /* the first members are the same */
			const rocprofiler_buffer_tracing_hip_api_record_t *r = headers[i]->payload;

			rocprofiler_query_buffer_tracing_kind_operation_name(r->kind, r->operation,
									     &name, NULL);
			fprintf(stderr, "record %s %s corr %lu", kind, name,
				(unsigned long)r->correlation_id.internal);
			if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY) {
				const rocprofiler_buffer_tracing_scratch_memory_record_t *s =
					headers[i]->payload;

				fprintf(stderr, " bytes %lu time %d",
					(unsigned long)s->allocation_size,
					s->start_timestamp < s->end_timestamp);
			}
			fprintf(stderr, "\n");
		}
	}
}

static bool wants(const char *what)
{
	return strstr(getenv("KINDS"), what) != NULL;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	static const rocprofiler_tracing_operation_t calls[] = {
		ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc, ROCPROFILER_HIP_RUNTIME_API_ID_hipFree};

	(void)finalize, (void)data;
	rocprofiler_create_context(&context);
	rocprofiler_create_buffer(context, 65536, 65536, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				  on_records, NULL, &buffer);
	if (wants("hip"))
		rocprofiler_configure_callback_tracing_service(
			context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, calls, 2, on_hip,
			NULL);
	if (wants("stream"))
		rocprofiler_configure_callback_tracing_service(
			context, ROCPROFILER_CALLBACK_TRACING_HIP_STREAM, NULL, 0, on_kind, NULL);
	if (wants("memory")) {
		rocprofiler_configure_callback_tracing_service(
			context, ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION, NULL, 0, on_kind,
			NULL);
		rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION, NULL, 0, buffer);
	}
	if (wants("range")) {
		rocprofiler_configure_callback_tracing_service(
			context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API, NULL, 0,
			on_kind, NULL);
		rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API, NULL, 0, buffer);
	}
	if (wants("scratch")) {
		rocprofiler_configure_callback_tracing_service(
			context, ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY, NULL, 0, on_kind,
			NULL);
		rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY, NULL, 0, buffer);
	}
	if (wants("host"))
		rocprofiler_configure_callback_tracing_service(
			context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, NULL, 0, on_object,
			NULL);
	if (wants("retired"))
		rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL, 0,
			buffer);
	fprintf(stderr, "buffered streams: %s\n",
		rocprofiler_get_status_name(rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_HIP_STREAM, NULL, 0, buffer)));
	return rocprofiler_start_context(context) == ROCPROFILER_STATUS_SUCCESS ? 0 : -1;
}

static void finalize(void *data)
{
	(void)data;
	rocprofiler_flush_buffer(buffer);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize,
							     NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "kinds";
	return &result;
}
