/* SPDX-License-Identifier: MIT */
/* Formats the arguments of an API record as text, one argument at a time. gputap provides the
 * location, type and format of each argument. This file adds the name, which sometimes differs from
 * the name in the runtime's prototype. */
#include <string.h>

#include "sdk.h"

#include "tool/tool_args.h"

enum { TEXT_BYTES = 4096, FOLLOW_NOTHING = 0 };

/* NUL-terminated names, indexed by number. */
static const char *const hip[] = {
#include "generated/hip_rocprofiler_args.inc"
};
static const char *const hip_compiler[] = {
#include "generated/hip_compiler_rocprofiler_args.inc"
};
static const char *const hsa_core[] = {
#include "generated/hsa_core_rocprofiler_args.inc"
};
static const char *const hsa_amd_ext[] = {
#include "generated/hsa_amd_ext_rocprofiler_args.inc"
};
static const char *const hsa_image_ext[] = {
#include "generated/hsa_image_ext_rocprofiler_args.inc"
};
static const char *const hsa_finalize_ext[] = {
#include "generated/hsa_finalize_ext_rocprofiler_args.inc"
};
static const char *const rccl[] = {
#include "generated/rccl_rocprofiler_args.inc"
};
static const char *const roctx[] = {
	[0] = "message\0",
	[1] = "message\0",
	[2] = "",
	[3] = "message\0",
	[4] = "id\0",
	[5] = "tid\0",
	[8] = "tid\0",
	[9] = "tid\0",
	[16] = "name\0",
	[17] = "name\0agent\0",
	[18] = "name\0device_id\0",
	[19] = "name\0stream\0",
};

static const char *const *const names[] = {
	[GPUTAP_DOMAIN_HIP] = hip,
	[GPUTAP_DOMAIN_HIP_COMPILER] = hip_compiler,
	[GPUTAP_DOMAIN_HSA_CORE] = hsa_core,
	[GPUTAP_DOMAIN_HSA_AMD_EXT] = hsa_amd_ext,
	[GPUTAP_DOMAIN_ROCTX] = roctx,
	[GPUTAP_DOMAIN_HSA_IMAGE_EXT] = hsa_image_ext,
	[GPUTAP_DOMAIN_HSA_FINALIZE_EXT] = hsa_finalize_ext,
	[GPUTAP_DOMAIN_RCCL] = rccl,
};

/* Count the pointers in a mangled type: 2 for "PPKv". */
static int32_t indirection(const char *mangled)
{
	int32_t n = 0;

	for (; *mangled == 'P' || *mangled == 'K' || *mangled == 'V'; mangled++)
		n += *mangled == 'P';
	return n;
}

struct argument {
	uint32_t number;
	const void *value;
	int32_t indirection, dereferenced;
	const char *type, *name, *text;
};

/* Call @each for every argument until it returns nonzero. @args: arguments as laid out in the
 * payload. */
static rocprofiler_status_t iterate(struct sdk_api api, int32_t operation, const void *args,
				    int32_t dereference,
				    int (*each)(const struct argument *a, void *data), void *data)
{
	const uint32_t number = api.from + (uint32_t)operation;
	char text[TEXT_BYTES];
	const char *name;

	if (!api.domain)
		return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
	if (operation < 0 || (uint32_t)operation >= api.count || !names[api.domain][number])
		return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
	name = names[api.domain][number];
	for (uint32_t i = 0; *name; i++, name += strlen(name) + 1) {
		struct argument a = {.number = i, .name = name, .text = text};
		uint32_t bytes, followed = 0;

		a.type = gt_tool_argument_mangled(api.domain, number, i);
		a.value = gt_tool_argument_value(api.domain, number, i, args, &bytes);
		if (!a.type || !a.value)
			return ROCPROFILER_STATUS_ERROR;
		gt_tool_argument_text(api.domain, number, i, args,
				      dereference > 0 ? (uint32_t)dereference : 0, GT_TEXT_UPSTREAM,
				      text, sizeof text, &followed);
		a.indirection = indirection(a.type);
		a.dereferenced =
			(int32_t)followed < a.indirection ? (int32_t)followed : a.indirection;
		if (each(&a, data))
			break;
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

struct visitor {
	const rocprofiler_callback_tracing_record_t *record;
	rocprofiler_callback_tracing_operation_args_cb_t fn;
	void *user;
};

static int visit_argument(const struct argument *a, void *data)
{
	const struct visitor *t = data;

	return t->fn(t->record->kind, t->record->operation, a->number, a->value, a->indirection,
		     a->type, a->name, a->text, a->dereferenced, t->user);
}

SDK_EXPORT rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operation_args(
	rocprofiler_callback_tracing_record_t record,
	rocprofiler_callback_tracing_operation_args_cb_t callback, int32_t max_dereference_count,
	void *user_data)
{
	struct visitor t = {&record, callback, user_data};

	if (sdk_callback_operations((int)record.kind) < 0)
		return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
	if (!callback || !record.payload)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	/* all APIs' payloads have the arguments at the same offset */
	return iterate(sdk_api_of(record.kind), record.operation,
		       (const char *)record.payload +
			       offsetof(rocprofiler_callback_tracing_hip_api_data_t, args),
		       max_dereference_count, visit_argument, &t);
}

struct is_of_buffer {
	rocprofiler_buffer_tracing_kind_t kind;
	int32_t operation;
	rocprofiler_buffer_tracing_operation_args_cb_t fn;
	void *user;
};

static int visit_buffered_argument(const struct argument *a, void *data)
{
	const struct is_of_buffer *t = data;

	return t->fn(t->kind, t->operation, a->number, a->value, a->indirection, a->type, a->name,
		     a->text, t->user);
}

SDK_EXPORT rocprofiler_status_t rocprofiler_iterate_buffer_tracing_record_args(
	rocprofiler_record_header_t record, rocprofiler_buffer_tracing_operation_args_cb_t callback,
	void *user_data)
{
	const rocprofiler_buffer_tracing_hip_api_ext_record_t *r = record.payload;
	rocprofiler_callback_tracing_kind_t of = ROCPROFILER_CALLBACK_TRACING_NONE;
	struct is_of_buffer t = {.fn = callback, .user = user_data};

	if (record.category != ROCPROFILER_BUFFER_CATEGORY_TRACING || !callback || !r)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (record.kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT)
		of = ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API;
	else if (record.kind == ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT)
		of = ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API;
	t.kind = (rocprofiler_buffer_tracing_kind_t)record.kind;
	if (of == ROCPROFILER_CALLBACK_TRACING_NONE)
		return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
	t.operation = r->operation;
	return iterate(sdk_api_of(of), r->operation, &r->args, FOLLOW_NOTHING,
		       visit_buffered_argument, &t);
}
