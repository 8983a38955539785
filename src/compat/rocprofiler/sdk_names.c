/* SPDX-License-Identifier: MIT */
/* Returns names and numbers of statuses, kinds and operations. */
#include <string.h>

#include "sdk.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const char *const hip_names[] = {
#include "generated/hip_rocprofiler.inc"
};
static const char *const hip_compiler_names[] = {
#include "generated/hip_compiler_rocprofiler.inc"
};
static const char *const hsa_core_names[] = {
#include "generated/hsa_core_rocprofiler.inc"
};
static const char *const hsa_amd_ext_names[] = {
#include "generated/hsa_amd_ext_rocprofiler.inc"
};
static const char *const hsa_image_ext_names[] = {
#include "generated/hsa_image_ext_rocprofiler.inc"
};
static const char *const hsa_finalize_ext_names[] = {
#include "generated/hsa_finalize_ext_rocprofiler.inc"
};
static const char *const rccl_names[] = {
#include "generated/rccl_rocprofiler.inc"
};
static const char *const marker_core_names[] = {"roctxMarkA",     "roctxRangePushA",
						"roctxRangePop",  "roctxRangeStartA",
						"roctxRangeStop", "roctxGetThreadId"};
static const char *const marker_control_names[] = {"roctxProfilerPause", "roctxProfilerResume"};
static const char *const marker_name_names[] = {"roctxNameOsThread", "roctxNameHsaAgent",
						"roctxNameHipDevice", "roctxNameHipStream"};
static const char *const marker_range_names[] = {"roctxMarkA", "roctxThreadRangeA",
						 "roctxProcessRangeA", "roctxGetThreadId"};
static const char *const code_object_names[] = {"CODE_OBJECT_NONE", "CODE_OBJECT_LOAD",
						"CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER",
						"CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER"};
static const char *const scratch_names[] = {"SCRATCH_MEMORY_NONE", "SCRATCH_MEMORY_ALLOC",
					    "SCRATCH_MEMORY_FREE", "SCRATCH_MEMORY_ASYNC_RECLAIM"};
static const char *const dispatch_names[] = {"KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE",
					     "KERNEL_DISPATCH_COMPLETE"};
static const char *const copy_names[] = {"MEMORY_COPY_NONE", "MEMORY_COPY_HOST_TO_HOST",
					 "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
					 "MEMORY_COPY_DEVICE_TO_DEVICE"};
static const char *const allocation_names[] = {"MEMORY_ALLOCATION_NONE",
					       "MEMORY_ALLOCATION_ALLOCATE",
					       "MEMORY_ALLOCATION_VMEM_ALLOCATE",
					       "MEMORY_ALLOCATION_FREE",
					       "MEMORY_ALLOCATION_VMEM_FREE"};
static const char *const runtime_names[] = {"RUNTIME_INITIALIZATION_NONE",
					    "RUNTIME_INITIALIZATION_HSA",
					    "RUNTIME_INITIALIZATION_HIP",
					    "RUNTIME_INITIALIZATION_MARKER",
					    "RUNTIME_INITIALIZATION_RCCL",
					    "RUNTIME_INITIALIZATION_ROCDECODE",
					    "RUNTIME_INITIALIZATION_ROCJPEG"};
static const char *const stream_names[] = {"HIP_STREAM_NONE", "HIP_STREAM_CREATE",
					   "HIP_STREAM_DESTROY", "HIP_STREAM_SET"};

struct named_kind {
	const char *name;
	int count;
	const char *const *operations;
};

#define WITH(suffix, table)                  \
	{                                    \
#suffix, COUNT(table), table \
	}
#define WITHOUT(suffix)          \
	{                        \
#suffix, 0, NULL \
	}
#define APIS                                                                                  \
	WITHOUT(NONE), WITH(HSA_CORE_API, hsa_core_names),                                    \
		WITH(HSA_AMD_EXT_API, hsa_amd_ext_names),                                     \
		WITH(HSA_IMAGE_EXT_API, hsa_image_ext_names),                                 \
		WITH(HSA_FINALIZE_EXT_API, hsa_finalize_ext_names),                           \
		WITH(HIP_RUNTIME_API, hip_names), WITH(HIP_COMPILER_API, hip_compiler_names), \
		WITH(MARKER_CORE_API, marker_core_names),                                     \
		WITH(MARKER_CONTROL_API, marker_control_names),                               \
		WITH(MARKER_NAME_API, marker_name_names)

static const struct named_kind callback_kinds[ROCPROFILER_CALLBACK_TRACING_LAST] = {
	APIS,
	WITH(CODE_OBJECT, code_object_names),
	WITH(SCRATCH_MEMORY, scratch_names),
	WITH(KERNEL_DISPATCH, dispatch_names),
	WITH(MEMORY_COPY, copy_names),
	WITH(RCCL_API, rccl_names),
	WITHOUT(OMPT),
	WITH(MEMORY_ALLOCATION, allocation_names),
	WITH(RUNTIME_INITIALIZATION, runtime_names),
	WITHOUT(ROCDECODE_API),
	WITHOUT(ROCJPEG_API),
	WITH(HIP_STREAM, stream_names),
	WITH(MARKER_CORE_RANGE_API, marker_range_names),
};
static const struct named_kind buffer_kinds[ROCPROFILER_BUFFER_TRACING_LAST] = {
	APIS,
	WITH(MEMORY_COPY, copy_names),
	WITH(KERNEL_DISPATCH, dispatch_names),
	WITH(SCRATCH_MEMORY, scratch_names),
	WITHOUT(CORRELATION_ID_RETIREMENT),
	WITH(RCCL_API, rccl_names),
	WITHOUT(OMPT),
	WITH(MEMORY_ALLOCATION, allocation_names),
	WITH(RUNTIME_INITIALIZATION, runtime_names),
	WITHOUT(ROCDECODE_API),
	WITHOUT(ROCJPEG_API),
	WITH(HIP_STREAM, stream_names),
	WITH(HIP_RUNTIME_API_EXT, hip_names),
	WITH(HIP_COMPILER_API_EXT, hip_compiler_names),
	WITHOUT(ROCDECODE_API_EXT),
	WITHOUT(KFD_EVENT_PAGE_MIGRATE),
	WITHOUT(KFD_EVENT_PAGE_FAULT),
	WITHOUT(KFD_EVENT_QUEUE),
	WITHOUT(KFD_EVENT_UNMAP_FROM_GPU),
	WITHOUT(KFD_EVENT_DROPPED_EVENTS),
	WITHOUT(KFD_PAGE_MIGRATE),
	WITHOUT(KFD_PAGE_FAULT),
	WITHOUT(KFD_QUEUE),
	WITH(MARKER_CORE_RANGE_API, marker_range_names),
};

int sdk_callback_operations(int kind)
{
	return kind >= 0 && kind < ROCPROFILER_CALLBACK_TRACING_LAST ? callback_kinds[kind].count
								     : -1;
}

int sdk_buffer_operations(int kind)
{
	return kind >= 0 && kind < ROCPROFILER_BUFFER_TRACING_LAST ? buffer_kinds[kind].count : -1;
}

/* APIs ----------------------------------------------------------------------------- */

static const struct sdk_api apis[] = {
	[ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API] = {GPUTAP_DOMAIN_HSA_CORE, 0,
						       ROCPROFILER_HSA_CORE_API_ID_LAST},
	[ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API] = {GPUTAP_DOMAIN_HSA_AMD_EXT, 0,
							  ROCPROFILER_HSA_AMD_EXT_API_ID_LAST},
	[ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API] = {GPUTAP_DOMAIN_HSA_IMAGE_EXT, 0,
							    ROCPROFILER_HSA_IMAGE_EXT_API_ID_LAST},
	[ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API] =
		{GPUTAP_DOMAIN_HSA_FINALIZE_EXT, 0, ROCPROFILER_HSA_FINALIZE_EXT_API_ID_LAST},
	[ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API] = {GPUTAP_DOMAIN_HIP, 0,
							  ROCPROFILER_HIP_RUNTIME_API_ID_LAST},
	[ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API] = {GPUTAP_DOMAIN_HIP_COMPILER, 0,
							   ROCPROFILER_HIP_COMPILER_API_ID_LAST},
	[ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API] = {GPUTAP_DOMAIN_ROCTX, 0,
							  ROCPROFILER_MARKER_CORE_API_ID_LAST},
	[ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API] =
		{GPUTAP_DOMAIN_ROCTX, 8, ROCPROFILER_MARKER_CONTROL_API_ID_LAST},
	[ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API] = {GPUTAP_DOMAIN_ROCTX, 16,
							  ROCPROFILER_MARKER_NAME_API_ID_LAST},
	[ROCPROFILER_CALLBACK_TRACING_RCCL_API] = {GPUTAP_DOMAIN_RCCL, 0,
						   ROCPROFILER_RCCL_API_ID_LAST},
};

uint32_t sdk_old_properties(void)
{
	static _Atomic uint32_t number;
	uint32_t known = atomic_load_explicit(&number, memory_order_relaxed);

	if (!known) {
		known = (uint32_t)gputap_operation_find(GPUTAP_DOMAIN_HIP,
							"hipGetDeviceProperties");
		atomic_store_explicit(&number, known, memory_order_relaxed);
	}
	return known;
}

struct sdk_api sdk_api_of(rocprofiler_callback_tracing_kind_t kind)
{
	return (int)kind < COUNT(apis) ? apis[kind] : (struct sdk_api){0, 0, 0};
}

bool sdk_kind_of(uint32_t domain, uint32_t number, rocprofiler_callback_tracing_kind_t *kind,
		 uint32_t *operation)
{
	static const uint8_t first[] = {
		[GPUTAP_DOMAIN_HIP] = ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
		[GPUTAP_DOMAIN_HIP_COMPILER] = ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API,
		[GPUTAP_DOMAIN_HSA_CORE] = ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
		[GPUTAP_DOMAIN_HSA_AMD_EXT] = ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API,
		[GPUTAP_DOMAIN_ROCTX] = ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
		[GPUTAP_DOMAIN_HSA_IMAGE_EXT] = ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API,
		[GPUTAP_DOMAIN_HSA_FINALIZE_EXT] =
			ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API,
		[GPUTAP_DOMAIN_RCCL] = ROCPROFILER_CALLBACK_TRACING_RCCL_API,
	};
	uint32_t k = domain < sizeof first ? first[domain] : 0;

	if (!k)
		return false;
	if (domain == GPUTAP_DOMAIN_HIP && number == sdk_old_properties())
		number = ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDevicePropertiesR0000;
	if (domain == GPUTAP_DOMAIN_ROCTX) {
		k += number / 8;
		number %= 8;
	}
	if ((int)k >= COUNT(apis) || number >= apis[k].count)
		return false;
	*kind = (rocprofiler_callback_tracing_kind_t)k;
	*operation = number;
	return true;
}

rocprofiler_external_correlation_id_request_kind_t sdk_request_of(
	rocprofiler_callback_tracing_kind_t kind)
{
	/* values 1 to 9 are the same in both enums */
	return kind <= ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API
		       ? (rocprofiler_external_correlation_id_request_kind_t)kind
	       : kind == ROCPROFILER_CALLBACK_TRACING_RCCL_API
		       ? ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_RCCL_API
	       : kind == ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API
		       ? ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_CORE_RANGE_API
		       : ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_NONE;
}

/* Queries --------------------------------------------------------------------------- */

static rocprofiler_status_t give_name(const char *text, const char **name, uint64_t *length)
{
	if (name)
		*name = text;
	if (length)
		*length = text ? strlen(text) : 0;
	return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t kind_name(const struct named_kind *kinds, int count, int kind,
				      const char **name, uint64_t *length)
{
	give_name(NULL, name, length);
	return kind < 0 || kind >= count ? ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND
					 : give_name(kinds[kind].name, name, length);
}

static rocprofiler_status_t operation_name(const struct named_kind *kinds, int count, int kind,
					   int operation, const char **name, uint64_t *length)
{
	give_name(NULL, name, length);
	if (kind < 0 || kind > count)
		return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
	if (kind == 0 || kind == count)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (operation < 0 || operation >= kinds[kind].count || !kinds[kind].operations[operation])
		return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
	return give_name(kinds[kind].operations[operation], name, length);
}

static rocprofiler_status_t may_iterate(int count, int kind)
{
	return kind < 0 || kind > count     ? ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND
	       : kind == 0 || kind == count ? ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT
					    : ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_query_callback_tracing_kind_name(
	rocprofiler_callback_tracing_kind_t kind, const char **name, uint64_t *name_len)
{
	return kind_name(callback_kinds, COUNT(callback_kinds), (int)kind, name, name_len);
}

SDK_EXPORT rocprofiler_status_t rocprofiler_query_callback_tracing_kind_operation_name(
	rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
	const char **name, uint64_t *name_len)
{
	return operation_name(callback_kinds, COUNT(callback_kinds), (int)kind, operation, name,
			      name_len);
}

/* Like upstream, include NONE. */
SDK_EXPORT rocprofiler_status_t rocprofiler_iterate_callback_tracing_kinds(
	rocprofiler_callback_tracing_kind_cb_t callback, void *data)
{
	for (int i = 0; i < COUNT(callback_kinds); i++)
		if (callback((rocprofiler_callback_tracing_kind_t)i, data))
			break;
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operations(
	rocprofiler_callback_tracing_kind_t kind,
	rocprofiler_callback_tracing_kind_operation_cb_t callback, void *data)
{
	rocprofiler_status_t status = may_iterate(COUNT(callback_kinds), (int)kind);

	for (int i = 0; status == ROCPROFILER_STATUS_SUCCESS && i < callback_kinds[kind].count; i++)
		if (callback_kinds[kind].operations[i] && callback(kind, i, data))
			break;
	return status;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_query_buffer_tracing_kind_name(
	rocprofiler_buffer_tracing_kind_t kind, const char **name, uint64_t *name_len)
{
	return kind_name(buffer_kinds, COUNT(buffer_kinds), (int)kind, name, name_len);
}

SDK_EXPORT rocprofiler_status_t rocprofiler_query_buffer_tracing_kind_operation_name(
	rocprofiler_buffer_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
	const char **name, uint64_t *name_len)
{
	return operation_name(buffer_kinds, COUNT(buffer_kinds), (int)kind, operation, name,
			      name_len);
}

SDK_EXPORT rocprofiler_status_t
rocprofiler_iterate_buffer_tracing_kinds(rocprofiler_buffer_tracing_kind_cb_t callback, void *data)
{
	for (int i = 0; i < COUNT(buffer_kinds); i++)
		if (callback((rocprofiler_buffer_tracing_kind_t)i, data))
			break;
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_iterate_buffer_tracing_kind_operations(
	rocprofiler_buffer_tracing_kind_t kind,
	rocprofiler_buffer_tracing_kind_operation_cb_t callback, void *data)
{
	rocprofiler_status_t status = may_iterate(COUNT(buffer_kinds), (int)kind);

	for (int i = 0; status == ROCPROFILER_STATUS_SUCCESS && i < buffer_kinds[kind].count; i++)
		if (buffer_kinds[kind].operations[i] && callback(kind, i, data))
			break;
	return status;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_query_intercept_table_name(
	rocprofiler_intercept_table_t kind, const char **name, uint64_t *name_len)
{
	static const char *const names[] = {"HSA",
					    "HIP (runtime)",
					    "HIP (compiler)",
					    "MARKER (ROCTx)",
					    "MARKER (ROCTx Control)",
					    "MARKER (ROCTx Name)",
					    "RCCL",
					    "rocDecode",
					    "rocJPEG"};

	give_name(NULL, name, name_len);
	for (int i = 0; i < COUNT(names); i++)
		if ((int)kind == 1 << i)
			return give_name(names[i], name, name_len);
	return sdk_offered_name((uint32_t)kind)
		       ? give_name(sdk_offered_name((uint32_t)kind), name, name_len)
		       : ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_query_external_correlation_id_request_kind_name(
	rocprofiler_external_correlation_id_request_kind_t kind, const char **name,
	uint64_t *name_len)
{
	/* clang-format off */
	static const char *const names[] = {
		"NONE", "HSA_CORE_API", "HSA_AMD_EXT_API", "HSA_IMAGE_EXT_API",
		"HSA_FINALIZE_EXT_API", "HIP_RUNTIME_API", "HIP_COMPILER_API", "MARKER_CORE_API",
		"MARKER_CONTROL_API", "MARKER_NAME_API", "MEMORY_COPY", "KERNEL_DISPATCH",
		"SCRATCH_MEMORY", "RCCL_API", "OMPT", "MEMORY_ALLOCATION", "ROCDECODE_API",
		"ROCJPEG_API", "MARKER_CORE_RANGE_API",
	};
	/* clang-format on */

	give_name(NULL, name, name_len);
	return (int)kind < 0 || (int)kind >= COUNT(names) ? ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND
							  : give_name(names[kind], name, name_len);
}

/* Statuses, version, time -------------------------------------------------------------- */

struct status {
	const char *name, *text;
};
#define S(name, text) [ROCPROFILER_STATUS_##name] = {"ROCPROFILER_STATUS_" #name, text}
static const struct status statuses[] = {
	S(SUCCESS, "Success"),
	S(ERROR, "Unspecified error"),
	S(ERROR_CONTEXT_NOT_FOUND, "Context not found, or not active"),
	S(ERROR_BUFFER_NOT_FOUND, "Buffer not found"),
	S(ERROR_KIND_NOT_FOUND, "Kind not found"),
	S(ERROR_OPERATION_NOT_FOUND, "Operation not found in this kind"),
	S(ERROR_THREAD_NOT_FOUND, "Thread not found"),
	S(ERROR_AGENT_NOT_FOUND, "Agent not found"),
	S(ERROR_COUNTER_NOT_FOUND, "Hardware counter not found"),
	S(ERROR_CONTEXT_ERROR, "Context error"),
	S(ERROR_CONTEXT_INVALID, "Invalid configuration of the context"),
	S(ERROR_CONTEXT_NOT_STARTED, "Context could not be started"),
	S(ERROR_CONTEXT_CONFLICT, "Context conflicts with another active context"),
	S(ERROR_CONTEXT_ID_NOT_ZERO, "Handle of a new context must be zero"),
	S(ERROR_BUFFER_BUSY, "Buffer is in use"),
	S(ERROR_SERVICE_ALREADY_CONFIGURED, "Service already configured in this context"),
	S(ERROR_CONFIGURATION_LOCKED, "Allowed only while tools are initialised"),
	S(ERROR_NOT_IMPLEMENTED, "Service not supported by this library"),
	S(ERROR_INCOMPATIBLE_ABI, "Size of a struct is unknown to this version"),
	S(ERROR_INVALID_ARGUMENT, "Invalid argument"),
	S(ERROR_METRIC_NOT_VALID_FOR_AGENT, "Metric not valid for this agent"),
	S(ERROR_FINALIZED, "Already finalised"),
	S(ERROR_HSA_NOT_LOADED, "HSA's runtime is not loaded yet"),
	S(ERROR_DIM_NOT_FOUND, "Dimension not found in this counter"),
	S(ERROR_PROFILE_COUNTER_NOT_FOUND, "Counter not found on this GPU"),
	S(ERROR_AST_GENERATION_FAILED, "Counter expression cannot be parsed"),
	S(ERROR_AST_NOT_FOUND, "Counter has no expression"),
	S(ERROR_AQL_NO_EVENT_COORD, "Hardware location of the counter is unknown"),
	S(ERROR_INCOMPATIBLE_KERNEL, "A newer driver is needed"),
	S(ERROR_OUT_OF_RESOURCES, "Out of memory or another resource"),
	S(ERROR_PROFILE_NOT_FOUND, "Set of counters not found"),
	S(ERROR_AGENT_DISPATCH_CONFLICT, "Counters of agents and of dispatches exclude each other"),
	S(INTERNAL_NO_AGENT_CONTEXT, "No context collects counters for this agent"),
	S(ERROR_SAMPLE_RATE_EXCEEDED, "Sampling rate is too high"),
	S(ERROR_NO_PROFILE_QUEUE, "No queue on which counters can be set up"),
	S(ERROR_NO_HARDWARE_COUNTERS, "No hardware counters"),
	S(ERROR_AGENT_MISMATCH, "Agent does not belong to the context"),
	S(ERROR_NOT_AVAILABLE, "Service not available"),
	S(ERROR_EXCEEDS_HW_LIMIT, "Hardware limit exceeded"),
	S(ERROR_AGENT_ARCH_NOT_SUPPORTED, "Architecture not supported"),
	S(ERROR_PERMISSION_DENIED, "Permission denied"),
};
_Static_assert(sizeof statuses / sizeof *statuses == ROCPROFILER_STATUS_LAST,
	       "every status has a name");

SDK_EXPORT const char *rocprofiler_get_status_name(rocprofiler_status_t status)
{
	return (int)status >= 0 && (int)status < COUNT(statuses) ? statuses[status].name : NULL;
}

SDK_EXPORT const char *rocprofiler_get_status_string(rocprofiler_status_t status)
{
	return (int)status >= 0 && (int)status < COUNT(statuses) ? statuses[status].text : NULL;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_get_version(uint32_t *major, uint32_t *minor,
							uint32_t *patch)
{
	if (major)
		*major = ROCPROFILER_VERSION_MAJOR;
	if (minor)
		*minor = ROCPROFILER_VERSION_MINOR;
	if (patch)
		*patch = ROCPROFILER_VERSION_PATCH;
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_get_version_triplet(rocprofiler_version_triplet_t *info)
{
	return rocprofiler_get_version(&info->major, &info->minor, &info->patch);
}
