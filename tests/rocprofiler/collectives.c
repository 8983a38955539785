/* SPDX-License-Identifier: MIT */
/* A tool that prints RCCL's calls on stdout: from callbacks, from records, and from a function that
 * the tool puts into RCCL's table. */
#include <string.h>

#include <rocprofiler-sdk/rccl/details/api_trace.h>

#define CLIENT_NAME   "collectives"
#define CLIENT_RECORD rocprofiler_buffer_tracing_rccl_api_record_t
#include "client.h"

static ncclAllReduce_fn_t next;

static ncclResult_t all_reduce(const void *from, void *to, size_t count, ncclDataType_t type,
			       ncclRedOp_t op, ncclComm_t comm, hipStream_t stream)
{
	ncclResult_t result = next(from, to, count, type, op, comm, stream);

	printf("tool: reduced %zu op %d through the table: %d\n", count, (int)op, (int)result);
	return result;
}

static void on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
		     void **tables, uint64_t count, void *data)
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

static int argument(rocprofiler_callback_tracing_kind_t kind,
		    rocprofiler_tracing_operation_t operation, uint32_t number,
		    const void *const address, int32_t indirection, const char *type,
		    const char *name, const char *text, int32_t dereferenced, void *data)
{
	(void)kind, (void)operation, (void)indirection, (void)text, (void)dereferenced, (void)data;
	if (number == 2)
		printf("tool: %s %s\n", type, name);
	wrong += number == 2 && ((const char *)address)[127] != 127;
	return 0;
}

static void on_call(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user_data,
		    void *data)
{
	const rocprofiler_callback_tracing_rccl_api_data_t *p = r.payload;
	const rocprofiler_callback_tracing_runtime_initialization_data_t *begun = r.payload;
	const char *name = NULL;

	(void)user_data, (void)data;
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION) {
		rocprofiler_query_callback_tracing_kind_operation_name(r.kind, r.operation, &name,
								       NULL);
		printf("tool: %s %lu\n", name, (unsigned long)begun->version);
		return;
	}
	calls += r.phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
	wrong += p->size != sizeof *p;
	if (r.operation == ROCPROFILER_RCCL_API_ID_ncclGetErrorString &&
	    r.phase == ROCPROFILER_CALLBACK_PHASE_EXIT)
		wrong += strcmp(p->retval.const_charp_retval, "invalid argument") != 0;
	if (r.operation != ROCPROFILER_RCCL_API_ID_ncclCommInitRankConfig ||
	    r.phase != ROCPROFILER_CALLBACK_PHASE_EXIT)
		return;
	printf("tool: id %d of %d rank %d\n", p->args.ncclCommInitRankConfig.commId.internal[127],
	       p->args.ncclCommInitRankConfig.nranks, p->args.ncclCommInitRankConfig.myrank);
	rocprofiler_iterate_callback_tracing_kind_operation_args(r, argument, 0, NULL);
}

static void set_up(void)
{
	wrong += rocprofiler_configure_callback_tracing_service(
			 context, ROCPROFILER_CALLBACK_TRACING_RCCL_API, NULL, 0, on_call, NULL) !=
		 0;
	wrong += rocprofiler_configure_callback_tracing_service(
			 context, ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION, NULL, 0,
			 on_call, NULL) != 0;
	wrong += rocprofiler_configure_buffer_tracing_service(context,
							      ROCPROFILER_BUFFER_TRACING_RCCL_API,
							      NULL, 0, buffer) != 0;
	wrong += rocprofiler_at_intercept_table_registration(
			 on_table, ROCPROFILER_RCCL_TABLE | ROCPROFILER_ROCJPEG_TABLE, NULL) != 0;
}
