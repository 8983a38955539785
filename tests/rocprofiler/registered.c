/* SPDX-License-Identifier: MIT */
/* A client for runtimes that register themselves (tests/rocm/modern.c): prints on stderr the tables
 * and initialisations that it was notified of, and at exit the number of calls. */
#include <stdio.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static rocprofiler_context_id_t context;
static unsigned hip, hsa;

static void on_call(rocprofiler_callback_tracing_record_t record,
		    rocprofiler_user_data_t *user_data, void *data)
{
	(void)user_data;
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT)
		__atomic_fetch_add((unsigned *)data, 1, __ATOMIC_RELAXED);
}

static void on_runtime(rocprofiler_callback_tracing_record_t record,
		       rocprofiler_user_data_t *user_data, void *data)
{
	const rocprofiler_callback_tracing_runtime_initialization_data_t *it = record.payload;
	const char *name = NULL;

	(void)user_data, (void)data;
	rocprofiler_query_callback_tracing_kind_operation_name(record.kind, record.operation, &name,
							       NULL);
	fprintf(stderr, "%s %lu of %lu\n", name, (unsigned long)it->instance,
		(unsigned long)it->version);
}

static void on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
		     void **tables, uint64_t count, void *data)
{
	const char *name = NULL;

	(void)tables, (void)data;
	rocprofiler_query_intercept_table_name(type, &name, NULL);
	fprintf(stderr, "table %s %lu of %lu, %lu\n", name, (unsigned long)instance,
		(unsigned long)version, (unsigned long)count);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	(void)finalize, (void)data;
	rocprofiler_create_context(&context);
	rocprofiler_configure_callback_tracing_service(context,
						       ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
						       NULL, 0, on_call, &hip);
	rocprofiler_configure_callback_tracing_service(context,
						       ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
						       NULL, 0, on_call, &hsa);
	rocprofiler_configure_callback_tracing_service(
		context, ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION, NULL, 0, on_runtime,
		NULL);
	rocprofiler_at_intercept_table_registration(
		on_table, ROCPROFILER_HSA_TABLE | ROCPROFILER_HIP_RUNTIME_TABLE, NULL);
	return rocprofiler_start_context(context) == ROCPROFILER_STATUS_SUCCESS ? 0 : -1;
}

static void finalize(void *data)
{
	(void)data;
	fprintf(stderr, "calls: %u of HIP, %u of HSA\n", hip, hsa);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
							   const char *runtime_version,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize,
							     NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "registered";
	return &result;
}
