/* SPDX-License-Identifier: MIT */
/* A tool that prints on stdout the calls of HSA's image and finalizer extensions, from callbacks
 * and from records. */
#define CLIENT_NAME   "extensions"
#define CLIENT_RECORD rocprofiler_buffer_tracing_hsa_api_record_t
#include "client.h"

enum { KINDS = 2 };
static const rocprofiler_callback_tracing_kind_t kinds[KINDS] = {
	ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API,
	ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API};

static int argument(rocprofiler_callback_tracing_kind_t kind,
		    rocprofiler_tracing_operation_t operation, uint32_t number,
		    const void *const address, int32_t indirection, const char *type,
		    const char *name, const char *text, int32_t dereferenced, void *data)
{
	(void)kind, (void)operation, (void)number, (void)address, (void)indirection, (void)text,
		(void)dereferenced;
	printf("tool: argument %s %s %s\n", (const char *)data, type, name);
	return 0;
}

static void show(const rocprofiler_callback_tracing_record_t *r, const char *name)
{
	const rocprofiler_callback_tracing_hsa_api_data_t *p = r->payload;

	if (r->kind == kinds[0] &&
	    r->operation == ROCPROFILER_HSA_IMAGE_EXT_API_ID_hsa_ext_image_create_with_layout) {
		rocprofiler_iterate_callback_tracing_kind_operation_args(*r, argument, 0,
									 (void *)(uintptr_t)name);
		printf("tool: layout %d pitches %zu %zu retval %d\n",
		       (int)p->args.hsa_ext_image_create_with_layout.image_data_layout,
		       p->args.hsa_ext_image_create_with_layout.image_data_row_pitch,
		       p->args.hsa_ext_image_create_with_layout.image_data_slice_pitch,
		       (int)p->retval.hsa_status_t_retval);
	}
	if (r->kind == kinds[1] &&
	    r->operation == ROCPROFILER_HSA_FINALIZE_EXT_API_ID_hsa_ext_program_finalize) {
		rocprofiler_iterate_callback_tracing_kind_operation_args(*r, argument, 0,
									 (void *)(uintptr_t)name);
		printf("tool: mask %lu last %u options %s code %lu\n",
		       (unsigned long)p->args.hsa_ext_program_finalize.control_directives
			       .break_exceptions_mask,
		       p->args.hsa_ext_program_finalize.control_directives.reserved2[73],
		       p->args.hsa_ext_program_finalize.options,
		       (unsigned long)p->args.hsa_ext_program_finalize.code_object->handle);
	}
}

static void on_call(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *user_data,
		    void *data)
{
	const char *name = NULL;

	(void)data;
	wrong += rocprofiler_query_callback_tracing_kind_operation_name(r.kind, r.operation, &name,
									NULL) !=
		 ROCPROFILER_STATUS_SUCCESS;
	printf("tool: call %d %s\n", r.phase, name);
	if (r.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		user_data->value = r.correlation_id.internal;
		return;
	}
	calls++;
	wrong += user_data->value != r.correlation_id.internal;
	show(&r, name);
}

static void set_up(void)
{
	for (int i = 0; i < KINDS; i++) {
		wrong += rocprofiler_configure_callback_tracing_service(context, kinds[i], NULL, 0,
									on_call, NULL) !=
			 ROCPROFILER_STATUS_SUCCESS;
		wrong += rocprofiler_configure_buffer_tracing_service(
				 context, (rocprofiler_buffer_tracing_kind_t)kinds[i], NULL, 0,
				 buffer) != ROCPROFILER_STATUS_SUCCESS;
	}
}
