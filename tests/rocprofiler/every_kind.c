/* SPDX-License-Identifier: MIT */
/* Configures each kind in a separate context, as tools that request everything do. Prints the
 * result and the number of operations for each kind. */
#include <stdio.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static void on_call(rocprofiler_callback_tracing_record_t record,
		    rocprofiler_user_data_t *user_data, void *data)
{
	(void)record, (void)user_data, (void)data;
}

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		       rocprofiler_record_header_t **headers, size_t count, void *data,
		       uint64_t dropped)
{
	(void)c, (void)b, (void)headers, (void)count, (void)data, (void)dropped;
}

static int count_called(rocprofiler_callback_tracing_kind_t kind,
			rocprofiler_tracing_operation_t operation, void *count)
{
	(void)kind, (void)operation;
	++*(int *)count;
	return 0;
}

static int count_recorded(rocprofiler_buffer_tracing_kind_t kind,
			  rocprofiler_tracing_operation_t operation, void *count)
{
	(void)kind, (void)operation;
	++*(int *)count;
	return 0;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	(void)finalize, (void)data;
	for (int kind = 1; kind < ROCPROFILER_CALLBACK_TRACING_LAST; kind++) {
		rocprofiler_context_id_t context = {0};
		const char *name;
		int count = 0;

		rocprofiler_create_context(&context);
		rocprofiler_query_callback_tracing_kind_name(kind, &name, NULL);
		rocprofiler_iterate_callback_tracing_kind_operations(kind, count_called, &count);
		printf("called %s %d %s\n", name, count,
		       rocprofiler_get_status_name(
			       rocprofiler_configure_callback_tracing_service(context, kind, NULL,
									      0, on_call, NULL)));
	}
	for (int kind = 1; kind < ROCPROFILER_BUFFER_TRACING_LAST; kind++) {
		rocprofiler_context_id_t context = {0};
		rocprofiler_buffer_id_t buffer;
		const char *name;
		int count = 0;

		rocprofiler_create_context(&context);
		rocprofiler_create_buffer(context, 4096, 2048, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
					  on_records, NULL, &buffer);
		rocprofiler_query_buffer_tracing_kind_name(kind, &name, NULL);
		rocprofiler_iterate_buffer_tracing_kind_operations(kind, count_recorded, &count);
		printf("recorded %s %d %s\n", name, count,
		       rocprofiler_get_status_name(
			       rocprofiler_configure_buffer_tracing_service(context, kind, NULL, 0,
									    buffer)));
	}
	return 0;
}

static rocprofiler_tool_configure_result_t *configure(uint32_t version, const char *runtime_version,
						      uint32_t priority,
						      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "every kind";
	return &result;
}

int main(void)
{
	return rocprofiler_force_configure(configure);
}
