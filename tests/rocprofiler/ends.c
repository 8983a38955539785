/* SPDX-License-Identifier: MIT */
/* A tool that prints a line when it is configured, and in each function that ends it: its exit()
 * handler, which reads the buffer as RPD's does, its finalize() and its destructor. FORCES: it
 * forces its configuration in its constructor and registers the handler afterwards, as RPD does. */
#include <stdio.h>
#include <stdlib.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static unsigned constructed, copies;

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		       rocprofiler_record_header_t **headers, size_t count, void *data,
		       uint64_t dropped)
{
	(void)c, (void)b, (void)headers, (void)data, (void)dropped;
	copies += count;
}

static void handler(void)
{
	rocprofiler_status_t rc;

	rocprofiler_stop_context(context);
	rc = rocprofiler_flush_buffer(buffer);
	fprintf(stderr, "handler, flush %d, copies %u\n", (int)rc, copies);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	(void)finalize, (void)data;
	rocprofiler_create_context(&context);
	rocprofiler_create_buffer(context, 65536, 32768, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				  on_records, NULL, &buffer);
	rocprofiler_configure_buffer_tracing_service(context,
						     ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, NULL,
						     0, buffer);
#ifndef FORCES
	atexit(handler);
#endif
	return rocprofiler_start_context(context);
}

static void finalize(void *data)
{
	(void)data;
	fputs("finalize\n", stderr);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize,
							     NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "ends";
	fprintf(stderr, "configure, constructed %u\n", constructed);
	return &result;
}

__attribute__((constructor)) static void construct(void)
{
	constructed = 1;
#ifdef FORCES
	fprintf(stderr, "force %d\n", (int)rocprofiler_force_configure(NULL));
	atexit(handler);
#endif
}

__attribute__((destructor)) static void destruct(void)
{
	fputs("destructor\n", stderr);
}
