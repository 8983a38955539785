/* SPDX-License-Identifier: MIT */
/* Shared by tools that get an API's calls in callbacks and in records, and that count errors. The
 * tool defines CLIENT_NAME and CLIENT_RECORD (the record's type) before it includes this, and
 * set_up() after that. */
#include <stdio.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static unsigned calls, records, wrong;

/* Configure the services, on `context` and `buffer`. */
static void set_up(void);

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		       rocprofiler_record_header_t **headers, size_t count, void *data,
		       uint64_t dropped)
{
	(void)c, (void)b, (void)data;
	wrong += dropped != 0;
	for (size_t i = 0; i < count; i++) {
		const CLIENT_RECORD *r = headers[i]->payload;
		const char *kind = NULL, *name = NULL;

		rocprofiler_query_buffer_tracing_kind_name(r->kind, &kind, NULL);
		rocprofiler_query_buffer_tracing_kind_operation_name(r->kind, r->operation, &name,
								     NULL);
		printf("tool: record %s %s\n", kind, name);
		records++;
		wrong += r->start_timestamp >= r->end_timestamp || !r->correlation_id.internal;
	}
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	(void)finalize, (void)data;
	rocprofiler_create_context(&context);
	rocprofiler_create_buffer(context, 4096, 3584, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				  on_records, NULL, &buffer);
	set_up();
	return rocprofiler_start_context(context);
}

static void finalize(void *data)
{
	(void)data;
	rocprofiler_flush_buffer(buffer);
	printf("tool: calls %u records %u wrong %u\n", calls, records, wrong);
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
	id->name = CLIENT_NAME;
	return &result;
}
