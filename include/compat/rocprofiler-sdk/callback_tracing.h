/* SPDX-License-Identifier: MIT */
/* Callback tracing: calls a function of the tool when an operation starts and when it ends. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_CALLBACK_TRACING_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_CALLBACK_TRACING_H

#include <stdint.h>

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hip.h>
#include <rocprofiler-sdk/hsa.h>
#include <rocprofiler-sdk/marker.h>
#include <rocprofiler-sdk/ompt.h>
#include <rocprofiler-sdk/rccl.h>
#include <rocprofiler-sdk/rocdecode.h>
#include <rocprofiler-sdk/rocjpeg.h>

ROCPROFILER_EXTERN_C_INIT

/* Values are those of HSA. */
typedef enum rocprofiler_code_object_storage_type_t {
	ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_NONE = 0,
	ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE = 1,
	ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY = 2,
	ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_LAST
} rocprofiler_code_object_storage_type_t;

/* Payloads. `size` is the size of the struct in the library. ----------------- */

typedef struct rocprofiler_callback_tracing_hsa_api_data_t {
	uint64_t size;
	rocprofiler_hsa_api_args_t args;
	rocprofiler_hsa_api_retval_t retval; /* set at EXIT */
} rocprofiler_callback_tracing_hsa_api_data_t;

typedef struct rocprofiler_callback_tracing_hip_api_data_t {
	uint64_t size;
	rocprofiler_hip_api_args_t args;
	rocprofiler_hip_api_retval_t retval;
} rocprofiler_callback_tracing_hip_api_data_t;

typedef struct rocprofiler_callback_tracing_ompt_data_t {
	uint64_t size;
	rocprofiler_ompt_args_t args;
} rocprofiler_callback_tracing_ompt_data_t;

typedef struct rocprofiler_callback_tracing_marker_api_data_t {
	uint64_t size;
	rocprofiler_marker_api_args_t args;
	rocprofiler_marker_api_retval_t retval;
} rocprofiler_callback_tracing_marker_api_data_t;

typedef struct rocprofiler_callback_tracing_rccl_api_data_t {
	uint64_t size;
	rocprofiler_rccl_api_args_t args;
	rocprofiler_rccl_api_retval_t retval;
} rocprofiler_callback_tracing_rccl_api_data_t;

typedef struct rocprofiler_callback_tracing_rocdecode_api_data_t {
	uint64_t size;
	rocprofiler_rocdecode_api_args_t args;
	rocprofiler_rocdecode_api_retval_t retval;
} rocprofiler_callback_tracing_rocdecode_api_data_t;

typedef struct rocprofiler_callback_tracing_rocjpeg_api_data_t {
	uint64_t size;
	rocprofiler_rocjpeg_api_args_t args;
	rocprofiler_rocjpeg_api_retval_t retval;
} rocprofiler_callback_tracing_rocjpeg_api_data_t;

/* Payload of CODE_OBJECT, operation LOAD. */
typedef struct rocprofiler_callback_tracing_code_object_load_data_t {
	uint64_t size;
	uint64_t code_object_id; /* id from 1, never reused */
	union {
		rocprofiler_agent_id_t rocp_agent; /* older name of the field */
		rocprofiler_agent_id_t agent_id;
	};
	hsa_agent_t hsa_agent;
	const char *uri;
	uint64_t load_base;
	uint64_t load_size;
	int64_t load_delta;
	rocprofiler_code_object_storage_type_t storage_type;
	union {
		struct {
			int storage_file; /* FILE: file descriptor */
		};
		struct {
			uint64_t memory_base; /* MEMORY */
			uint64_t memory_size;
		};
	};
} rocprofiler_callback_tracing_code_object_load_data_t;

#define ROCPROFILER_CODE_OBJECT_ID_NONE ROCPROFILER_UINT64_C(0)

/* Payload of CODE_OBJECT, operation DEVICE_KERNEL_SYMBOL_REGISTER. */
typedef struct rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t {
	uint64_t size;
	uint64_t kernel_id; /* id from 1, never reused */
	uint64_t code_object_id;
	const char *kernel_name; /* mangled name, with ".kd"; stays valid */
	uint64_t kernel_object;
	uint32_t kernarg_segment_size;
	uint32_t kernarg_segment_alignment;
	uint32_t group_segment_size;
	uint32_t private_segment_size;
	uint32_t sgpr_count;
	uint32_t arch_vgpr_count;
	uint32_t accum_vgpr_count;
	int64_t kernel_code_entry_byte_offset;
	rocprofiler_address_t kernel_address;
} rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t;

/* Payload of CODE_OBJECT, operation HOST_KERNEL_SYMBOL_REGISTER. */
typedef struct rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t {
	uint64_t size;
	uint64_t host_function_id;
	uint64_t kernel_id;
	uint64_t code_object_id;
	rocprofiler_address_t host_function;
	rocprofiler_address_t modules;
	const char *device_function;
	uint32_t thread_limit;
	rocprofiler_dim3_t thread_ids;
	rocprofiler_dim3_t block_ids;
	rocprofiler_dim3_t block_dims;
	rocprofiler_dim3_t grid_dims;
	uint64_t workgroup_size;
} rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t;

/* All times are 0 until they are known. */
typedef struct rocprofiler_callback_tracing_kernel_dispatch_data_t {
	uint64_t size;
	rocprofiler_timestamp_t start_timestamp;
	rocprofiler_timestamp_t end_timestamp;
	rocprofiler_kernel_dispatch_info_t dispatch_info;
} rocprofiler_callback_tracing_kernel_dispatch_data_t;

typedef struct rocprofiler_callback_tracing_memory_copy_data_t {
	uint64_t size;
	rocprofiler_timestamp_t start_timestamp;
	rocprofiler_timestamp_t end_timestamp;
	rocprofiler_agent_id_t dst_agent_id;
	rocprofiler_agent_id_t src_agent_id;
	uint64_t bytes;
	rocprofiler_address_t dst_address;
	rocprofiler_address_t src_address;
} rocprofiler_callback_tracing_memory_copy_data_t;

typedef struct rocprofiler_callback_tracing_memory_allocation_data_t {
	uint64_t size;
	rocprofiler_timestamp_t start_timestamp;
	rocprofiler_timestamp_t end_timestamp;
	rocprofiler_agent_id_t agent_id;
	rocprofiler_address_t address;
	uint64_t allocation_size;
} rocprofiler_callback_tracing_memory_allocation_data_t;

typedef struct rocprofiler_callback_tracing_scratch_memory_data_t {
	uint64_t size;
	rocprofiler_agent_id_t agent_id;
	rocprofiler_queue_id_t queue_id;
	rocprofiler_scratch_alloc_flag_t flags;
	hsa_amd_tool_event_kind_t args_kind;
	rocprofiler_scratch_memory_args_t args;
} rocprofiler_callback_tracing_scratch_memory_data_t;

typedef struct rocprofiler_callback_tracing_runtime_initialization_data_t {
	uint64_t size;
	uint64_t version;
	uint64_t instance; /* number of the runtime's copy in the process, from 0 */
} rocprofiler_callback_tracing_runtime_initialization_data_t;

typedef struct rocprofiler_callback_tracing_hip_stream_data_t {
	uint64_t size;
	rocprofiler_stream_id_t stream_id;
	rocprofiler_address_t stream_value;
} rocprofiler_callback_tracing_hip_stream_data_t;

/* Functions ------------------------------------------------------------------ */

/* @user_data: eight bytes that belong to this context and this call, retained from ENTER to
 *             EXIT. */
typedef void (*rocprofiler_callback_tracing_cb_t)(rocprofiler_callback_tracing_record_t record,
						  rocprofiler_user_data_t *user_data,
						  void *callback_data) ROCPROFILER_NONNULL(2);
/* Return: 0 to continue, another value to end the iteration. */
typedef int (*rocprofiler_callback_tracing_kind_cb_t)(rocprofiler_callback_tracing_kind_t kind,
						      void *data);
typedef int (*rocprofiler_callback_tracing_kind_operation_cb_t)(
	rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
	void *data);
/* @arg_type: mangled C++ type. */
typedef int (*rocprofiler_callback_tracing_operation_args_cb_t)(
	rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
	uint32_t arg_number, const void *const arg_value_addr, int32_t arg_indirection_count,
	const char *arg_type, const char *arg_name, const char *arg_value_str,
	int32_t arg_dereference_count, void *data);

/* Call @callback for operations of a kind. Call this function only while tools are initialised,
 * once for each kind and context. @operations: NULL with @operations_count 0: all operations. */
rocprofiler_status_t rocprofiler_configure_callback_tracing_service(
	rocprofiler_context_id_t context_id, rocprofiler_callback_tracing_kind_t kind,
	const rocprofiler_tracing_operation_t *operations, size_t operations_count,
	rocprofiler_callback_tracing_cb_t callback, void *callback_args) ROCPROFILER_API;

/* @name_len: may be NULL. */
rocprofiler_status_t rocprofiler_query_callback_tracing_kind_name(
	rocprofiler_callback_tracing_kind_t kind, const char **name,
	uint64_t *name_len) ROCPROFILER_API;
rocprofiler_status_t rocprofiler_query_callback_tracing_kind_operation_name(
	rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
	const char **name, uint64_t *name_len) ROCPROFILER_API;
rocprofiler_status_t rocprofiler_iterate_callback_tracing_kinds(
	rocprofiler_callback_tracing_kind_cb_t callback, void *data) ROCPROFILER_API
	ROCPROFILER_NONNULL(1);
rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operations(
	rocprofiler_callback_tracing_kind_t kind,
	rocprofiler_callback_tracing_kind_operation_cb_t callback, void *data) ROCPROFILER_API
	ROCPROFILER_NONNULL(2);
/* Call @callback for each argument of an API record, as text. @max_dereference_count: largest
 * number of pointers to follow. */
rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operation_args(
	rocprofiler_callback_tracing_record_t record,
	rocprofiler_callback_tracing_operation_args_cb_t callback, int32_t max_dereference_count,
	void *user_data) ROCPROFILER_API ROCPROFILER_NONNULL(2);

ROCPROFILER_EXTERN_C_FINI

#endif
