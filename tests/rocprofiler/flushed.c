/* SPDX-License-Identifier: MIT */
/* A client that counts the kernels in its buffer, for tests/rocprofiler/flushed.hip:
 * flushed_start(), flushed_stop(), and flushed_count(), which flushes first. */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static _Atomic unsigned dispatches;

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		       rocprofiler_record_header_t **headers, size_t count, void *data,
		       uint64_t dropped)
{
	(void)c, (void)b, (void)headers, (void)data, (void)dropped;
	dispatches += (unsigned)count;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	(void)finalize, (void)data;
	rocprofiler_create_context(&context);
	rocprofiler_create_buffer(context, 1 << 20, 1 << 20, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				  on_records, NULL, &buffer);
	return rocprofiler_configure_buffer_tracing_service(
		context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "flushed";
	return &result;
}

void flushed_start(void)
{
	rocprofiler_start_context(context);
}

void flushed_stop(void)
{
	rocprofiler_stop_context(context);
}

unsigned flushed_count(void)
{
	rocprofiler_flush_buffer(buffer);
	return dispatches;
}
