/* SPDX-License-Identifier: MIT */
/* A tool: RCCL, by callbacks, by records, and by its table, in which it puts a function of its own; on stdout. */
#include <stdio.h>
#include <string.h>

#include <rocprofiler-sdk/rccl/details/api_trace.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static ncclAllReduce_fn_t next;
static unsigned calls, records, wrong;

static ncclResult_t all_reduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
			       hipStream_t stream)
{
	ncclResult_t result = next(from, to, count, type, op, comm, stream);

	printf("tool: reduced %zu op %d through the table: %d\n", count, (int)op, (int)result);
	return result;
}

static void on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance, void **tables, uint64_t count, void *data)
{
	rcclApiFuncTable *table = tables[0];
	const char *name = NULL;

	(void)data;
	wrong += instance != 0 || count != 1 || !version;
	rocprofiler_query_intercept_table_name(type, &name, NULL);
	printf("tool: table %s %zu\n", name, (size_t)table->size);
	if (type == ROCPROFILER_RCCL_TABLE) {
		next = table->ncclAllReduce_fn;
		table->ncclAllReduce_fn = all_reduce;
	}
}

static int argument(rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation, uint32_t number,
		    const void *const address, int32_t indirection, const char *type, const char *name, const char *text,
		    int32_t dereferenced, void *data)
{
	(void)kind, (void)operation, (void)indirection, (void)text, (void)dereferenced, (void)data;
	if (number == 2)
		printf("tool: %s %s\n", type, name);
	wrong += number == 2 && ((const char *)address)[127] != 127;
	return 0;
}

static void on_call(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user_data, void *data)
{
	const rocprofiler_callback_tracing_rccl_api_data_t *p = r.payload;
	const rocprofiler_callback_tracing_runtime_initialization_data_t *begun = r.payload;
	const char *name = NULL;

	(void)user_data, (void)data;
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION) {
		rocprofiler_query_callback_tracing_kind_operation_name(r.kind, r.operation, &name, NULL);
		printf("tool: %s %lu\n", name, (unsigned long)begun->version);
		return;
	}
	calls += r.phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
	wrong += p->size != sizeof *p;
	if (r.operation == ROCPROFILER_RCCL_API_ID_ncclGetErrorString && r.phase == ROCPROFILER_CALLBACK_PHASE_EXIT)
		wrong += strcmp(p->retval.const_charp_retval, "invalid argument") != 0;
	if (r.operation != ROCPROFILER_RCCL_API_ID_ncclCommInitRankConfig || r.phase != ROCPROFILER_CALLBACK_PHASE_EXIT)
		return;
	printf("tool: id %d of %d rank %d\n", p->args.ncclCommInitRankConfig.commId.internal[127], p->args.ncclCommInitRankConfig.nranks,
	       p->args.ncclCommInitRankConfig.myrank);
	rocprofiler_iterate_callback_tracing_kind_operation_args(r, argument, 0, NULL);
}

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b, rocprofiler_record_header_t **headers, size_t count, void *data,
		       uint64_t dropped)
{
	(void)c, (void)b, (void)data;
	wrong += dropped != 0;
	for (size_t i = 0; i < count; i++) {
		const rocprofiler_buffer_tracing_rccl_api_record_t *r = headers[i]->payload;
		const char *kind = NULL, *name = NULL;

		rocprofiler_query_buffer_tracing_kind_name(r->kind, &kind, NULL);
		rocprofiler_query_buffer_tracing_kind_operation_name(r->kind, r->operation, &name, NULL);
		printf("tool: record %s %s\n", kind, name);
		records++;
		wrong += r->start_timestamp >= r->end_timestamp || !r->correlation_id.internal;
	}
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	(void)finalize, (void)data;
	rocprofiler_create_context(&context);
	rocprofiler_create_buffer(context, 4096, 3584, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records, NULL, &buffer);
	wrong += rocprofiler_configure_callback_tracing_service(context, ROCPROFILER_CALLBACK_TRACING_RCCL_API, NULL, 0, on_call, NULL) != 0;
	wrong += rocprofiler_configure_callback_tracing_service(context, ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION, NULL, 0, on_call,
								NULL) != 0;
	wrong += rocprofiler_configure_buffer_tracing_service(context, ROCPROFILER_BUFFER_TRACING_RCCL_API, NULL, 0, buffer) != 0;
	wrong += rocprofiler_at_intercept_table_registration(on_table, ROCPROFILER_RCCL_TABLE | ROCPROFILER_ROCJPEG_TABLE, NULL) != 0;
	return rocprofiler_start_context(context);
}

static void finalize(void *data)
{
	(void)data;
	rocprofiler_flush_buffer(buffer);
	printf("tool: calls %u records %u wrong %u\n", calls, records, wrong);
	fflush(stdout);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize, NULL};

	(void)version, (void)runtime_version, (void)priority;
	id->name = "collectives";
	return &result;
}
