/* SPDX-License-Identifier: MIT */
/* A tool: HSA's image and finalizer extensions, told by callbacks and by records, on stdout. */
#include <stdio.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

enum { KINDS = 2 };
static const rocprofiler_callback_tracing_kind_t kinds[KINDS] = {ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API,
								 ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API};
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static unsigned calls, records, wrong;

static int argument(rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation, uint32_t number,
		    const void *const address, int32_t indirection, const char *type, const char *name, const char *text,
		    int32_t dereferenced, void *data)
{
	(void)kind, (void)operation, (void)number, (void)address, (void)indirection, (void)text, (void)dereferenced;
	printf("tool: argument %s %s %s\n", (const char *)data, type, name);
	return 0;
}

static void show(const rocprofiler_callback_tracing_record_t *r, const char *name)
{
	const rocprofiler_callback_tracing_hsa_api_data_t *p = r->payload;

	if (r->kind == kinds[0] && r->operation == ROCPROFILER_HSA_IMAGE_EXT_API_ID_hsa_ext_image_create_with_layout) {
		rocprofiler_iterate_callback_tracing_kind_operation_args(*r, argument, 0, (void *)(uintptr_t)name);
		printf("tool: layout %d pitches %zu %zu retval %d\n", (int)p->args.hsa_ext_image_create_with_layout.image_data_layout,
		       p->args.hsa_ext_image_create_with_layout.image_data_row_pitch,
		       p->args.hsa_ext_image_create_with_layout.image_data_slice_pitch, (int)p->retval.hsa_status_t_retval);
	}
	if (r->kind == kinds[1] && r->operation == ROCPROFILER_HSA_FINALIZE_EXT_API_ID_hsa_ext_program_finalize) {
		rocprofiler_iterate_callback_tracing_kind_operation_args(*r, argument, 0, (void *)(uintptr_t)name);
		printf("tool: mask %lu last %u options %s code %lu\n",
		       (unsigned long)p->args.hsa_ext_program_finalize.control_directives.break_exceptions_mask,
		       p->args.hsa_ext_program_finalize.control_directives.reserved2[73], p->args.hsa_ext_program_finalize.options,
		       (unsigned long)p->args.hsa_ext_program_finalize.code_object->handle);
	}
}

static void on_call(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user_data, void *data)
{
	const char *name = NULL;

	(void)data;
	wrong += rocprofiler_query_callback_tracing_kind_operation_name(r.kind, r.operation, &name, NULL) != ROCPROFILER_STATUS_SUCCESS;
	printf("tool: call %d %s\n", r.phase, name);
	if (r.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		user_data->value = r.correlation_id.internal;
		return;
	}
	calls++;
	wrong += user_data->value != r.correlation_id.internal;
	show(&r, name);
}

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b, rocprofiler_record_header_t **headers, size_t count, void *data,
		       uint64_t dropped)
{
	(void)c, (void)b, (void)data;
	wrong += dropped != 0;
	for (size_t i = 0; i < count; i++) {
		const rocprofiler_buffer_tracing_hsa_api_record_t *r = headers[i]->payload;
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
	for (int i = 0; i < KINDS; i++) {
		wrong += rocprofiler_configure_callback_tracing_service(context, kinds[i], NULL, 0, on_call, NULL) != ROCPROFILER_STATUS_SUCCESS;
		wrong += rocprofiler_configure_buffer_tracing_service(context, (rocprofiler_buffer_tracing_kind_t)kinds[i], NULL, 0, buffer) !=
			 ROCPROFILER_STATUS_SUCCESS;
	}
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
	id->name = "extensions";
	return &result;
}
