/* SPDX-License-Identifier: MIT */
/* Checks our headers against rocprofiler-sdk's ABI 1.0.0: sizes, offsets and numbers that were
 * measured in its own headers. Compiled as C and as C++, with the runtimes' headers and without
 * (GPUTAP_ROCPROFILER_OPAQUE). */
#include <assert.h>
#include <stddef.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <rocprofiler-sdk-roctx/api_trace.h>
#include <rocprofiler-sdk/experimental/thread_trace.h>

#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)
#define AT(type, member, offset) \
	static_assert(offsetof(type, member) == (offset), #type "." #member)
#define IS(name, value) static_assert((int)(name) == (value), #name)

SIZE(rocprofiler_user_data_t, 8);
SIZE(rocprofiler_context_id_t, 8);
SIZE(rocprofiler_buffer_id_t, 8);
SIZE(rocprofiler_agent_id_t, 8);
SIZE(rocprofiler_queue_id_t, 8);
SIZE(rocprofiler_callback_thread_t, 8);
SIZE(rocprofiler_counter_id_t, 8);
SIZE(rocprofiler_stream_id_t, 8);
SIZE(rocprofiler_correlation_id_t, 24);
AT(rocprofiler_correlation_id_t, external, 8);
AT(rocprofiler_correlation_id_t, ancestor, 16);
SIZE(rocprofiler_async_correlation_id_t, 16);
SIZE(rocprofiler_callback_tracing_record_t, 64);
AT(rocprofiler_callback_tracing_record_t, thread_id, 8);
AT(rocprofiler_callback_tracing_record_t, correlation_id, 16);
AT(rocprofiler_callback_tracing_record_t, kind, 40);
AT(rocprofiler_callback_tracing_record_t, operation, 44);
AT(rocprofiler_callback_tracing_record_t, phase, 48);
AT(rocprofiler_callback_tracing_record_t, payload, 56);
SIZE(rocprofiler_record_header_t, 16);
AT(rocprofiler_record_header_t, kind, 4);
AT(rocprofiler_record_header_t, payload, 8);
SIZE(rocprofiler_version_triplet_t, 12);
SIZE(rocprofiler_dim3_t, 12);
SIZE(rocprofiler_client_id_t, 24);
AT(rocprofiler_client_id_t, handle, 16);
SIZE(rocprofiler_tool_configure_result_t, 32);
AT(rocprofiler_tool_configure_result_t, finalize, 16);
SIZE(rocprofiler_kernel_dispatch_info_t, 128);
AT(rocprofiler_kernel_dispatch_info_t, dispatch_id, 32);
AT(rocprofiler_kernel_dispatch_info_t, private_segment_size, 40);
AT(rocprofiler_kernel_dispatch_info_t, workgroup_size, 48);
AT(rocprofiler_kernel_dispatch_info_t, grid_size, 60);
AT(rocprofiler_kernel_dispatch_info_t, reserved_padding, 72);

SIZE(rocprofiler_callback_tracing_hsa_api_data_t, 208);
AT(rocprofiler_callback_tracing_hsa_api_data_t, retval, 200);
SIZE(rocprofiler_callback_tracing_hip_api_data_t, 120);
AT(rocprofiler_callback_tracing_hip_api_data_t, retval, 96);
SIZE(rocprofiler_callback_tracing_marker_api_data_t, 32);
AT(rocprofiler_callback_tracing_marker_api_data_t, retval, 24);
SIZE(rocprofiler_callback_tracing_rccl_api_data_t, 168);
SIZE(rocprofiler_rccl_api_args_t, 152);
IS(ROCPROFILER_RCCL_API_ID_LAST, 37);
IS(ROCPROFILER_RCCL_API_ID_ncclCommDeregister, 36);
AT(rocprofiler_callback_tracing_rccl_api_data_t, retval, 160);
SIZE(rocprofiler_callback_tracing_rocdecode_api_data_t, 56);
SIZE(rocprofiler_callback_tracing_rocjpeg_api_data_t, 64);
SIZE(rocprofiler_callback_tracing_ompt_data_t, 136);
#define LOADED rocprofiler_callback_tracing_code_object_load_data_t
SIZE(LOADED, 88);
AT(LOADED, rocp_agent, 16);
AT(LOADED, agent_id, 16);
AT(LOADED, hsa_agent, 24);
AT(LOADED, uri, 32);
AT(LOADED, load_base, 40);
AT(LOADED, load_delta, 56);
AT(LOADED, storage_type, 64);
AT(LOADED, storage_file, 72);
AT(LOADED, memory_base, 72);
AT(LOADED, memory_size, 80);
#define SYMBOL rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t
SIZE(SYMBOL, 88);
AT(SYMBOL, kernel_name, 24);
AT(SYMBOL, kernel_object, 32);
AT(SYMBOL, kernarg_segment_size, 40);
AT(SYMBOL, private_segment_size, 52);
AT(SYMBOL, accum_vgpr_count, 64);
AT(SYMBOL, kernel_code_entry_byte_offset, 72);
AT(SYMBOL, kernel_address, 80);
#define HOST rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t
SIZE(HOST, 120);
AT(HOST, modules, 40);
AT(HOST, thread_limit, 56);
AT(HOST, thread_ids, 60);
AT(HOST, grid_dims, 96);
AT(HOST, workgroup_size, 112);
SIZE(rocprofiler_callback_tracing_kernel_dispatch_data_t, 152);
AT(rocprofiler_callback_tracing_kernel_dispatch_data_t, dispatch_info, 24);
SIZE(rocprofiler_callback_tracing_memory_copy_data_t, 64);
AT(rocprofiler_callback_tracing_memory_copy_data_t, bytes, 40);
SIZE(rocprofiler_callback_tracing_memory_allocation_data_t, 48);
SIZE(rocprofiler_callback_tracing_scratch_memory_data_t, 56);
AT(rocprofiler_callback_tracing_scratch_memory_data_t, args_kind, 28);
AT(rocprofiler_callback_tracing_scratch_memory_data_t, args, 32);
SIZE(rocprofiler_callback_tracing_runtime_initialization_data_t, 24);
SIZE(rocprofiler_callback_tracing_hip_stream_data_t, 24);

#define API_RECORD(type)               \
	SIZE(type, 64);                \
	AT(type, kind, 8);             \
	AT(type, operation, 12);       \
	AT(type, correlation_id, 16);  \
	AT(type, start_timestamp, 40); \
	AT(type, thread_id, 56)
API_RECORD(rocprofiler_buffer_tracing_hsa_api_record_t);
API_RECORD(rocprofiler_buffer_tracing_hip_api_record_t);
API_RECORD(rocprofiler_buffer_tracing_marker_api_record_t);
API_RECORD(rocprofiler_buffer_tracing_rccl_api_record_t);
API_RECORD(rocprofiler_buffer_tracing_rocdecode_api_record_t);
API_RECORD(rocprofiler_buffer_tracing_rocjpeg_api_record_t);
SIZE(rocprofiler_buffer_tracing_hip_api_ext_record_t, 176);
AT(rocprofiler_buffer_tracing_hip_api_ext_record_t, retval, 152);
SIZE(rocprofiler_buffer_tracing_ompt_record_t, 104);
#define COPY rocprofiler_buffer_tracing_memory_copy_record_t
SIZE(COPY, 96);
AT(COPY, thread_id, 32);
AT(COPY, start_timestamp, 40);
AT(COPY, dst_agent_id, 56);
AT(COPY, bytes, 72);
AT(COPY, src_address, 88);
SIZE(rocprofiler_buffer_tracing_memory_allocation_record_t, 88);
AT(rocprofiler_buffer_tracing_memory_allocation_record_t, agent_id, 64);
AT(rocprofiler_buffer_tracing_memory_allocation_record_t, allocation_size, 80);
SIZE(rocprofiler_buffer_tracing_kernel_dispatch_record_t, 184);
AT(rocprofiler_buffer_tracing_kernel_dispatch_record_t, dispatch_info, 56);
SIZE(rocprofiler_buffer_tracing_scratch_memory_record_t, 96);
AT(rocprofiler_buffer_tracing_scratch_memory_record_t, thread_id, 56);
AT(rocprofiler_buffer_tracing_scratch_memory_record_t, flags, 80);
SIZE(rocprofiler_buffer_tracing_correlation_id_retirement_record_t, 32);
AT(rocprofiler_buffer_tracing_correlation_id_retirement_record_t, timestamp, 16);
SIZE(rocprofiler_buffer_tracing_runtime_initialization_record_t, 72);
AT(rocprofiler_buffer_tracing_runtime_initialization_record_t, version, 56);
SIZE(rocprofiler_agent_v0_t, 312);
AT(rocprofiler_agent_v0_t, id, 8);
AT(rocprofiler_agent_v0_t, type, 16);
AT(rocprofiler_agent_v0_t, gfx_target_version, 100);
AT(rocprofiler_agent_v0_t, name, 248);
AT(rocprofiler_agent_v0_t, product_name, 264);
AT(rocprofiler_agent_v0_t, node_id, 280);
AT(rocprofiler_agent_v0_t, logical_node_type_id, 288);
AT(rocprofiler_agent_v0_t, runtime_visibility, 292);
AT(rocprofiler_agent_v0_t, uuid, 296);
SIZE(roctxCoreApiTable_t, 56);
SIZE(roctxControlApiTable_t, 24);
SIZE(roctxNameApiTable_t, 40);
SIZE(rocprofiler_thread_trace_parameter_t, 24);
AT(rocprofiler_thread_trace_parameter_t, value, 8);
SIZE(rocprofiler_thread_trace_decoder_pc_t, 16);
SIZE(rocprofiler_thread_trace_decoder_perfevent_t, 24);
AT(rocprofiler_thread_trace_decoder_perfevent_t, CU, 16);
SIZE(rocprofiler_thread_trace_decoder_occupancy_t, 32);
AT(rocprofiler_thread_trace_decoder_occupancy_t, cu, 25);
SIZE(rocprofiler_thread_trace_decoder_wave_state_t, 8);
SIZE(rocprofiler_thread_trace_decoder_inst_t, 32);
AT(rocprofiler_thread_trace_decoder_inst_t, time, 8);
SIZE(rocprofiler_thread_trace_decoder_wave_t, 64);
AT(rocprofiler_thread_trace_decoder_wave_t, begin_time, 16);
AT(rocprofiler_thread_trace_decoder_wave_t, instructions_array, 56);
SIZE(rocprofiler_thread_trace_decoder_id_t, 8);

IS(ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED, 16);
IS(ROCPROFILER_STATUS_ERROR_FINALIZED, 21);
IS(ROCPROFILER_STATUS_INTERNAL_NO_AGENT_CONTEXT, 32);
IS(ROCPROFILER_STATUS_ERROR_NO_HARDWARE_COUNTERS, 35);
IS(ROCPROFILER_STATUS_ERROR_PERMISSION_DENIED, 40);
IS(ROCPROFILER_STATUS_LAST, 41);
IS(ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API, 6);
IS(ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, 10);
IS(ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, 13);
IS(ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION, 17);
IS(ROCPROFILER_CALLBACK_TRACING_HIP_STREAM, 20);
IS(ROCPROFILER_CALLBACK_TRACING_LAST, 22);
IS(ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, 10);
IS(ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, 13);
IS(ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT, 21);
IS(ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_MIGRATE, 24);
IS(ROCPROFILER_BUFFER_TRACING_KFD_QUEUE, 31);
IS(ROCPROFILER_BUFFER_TRACING_LAST, 33);
IS(ROCPROFILER_CALLBACK_PHASE_LOAD, 1);
IS(ROCPROFILER_CALLBACK_PHASE_UNLOAD, 2);
IS(ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER, 3);
IS(ROCPROFILER_KERNEL_DISPATCH_COMPLETE, 2);
IS(ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE, 4);
IS(ROCPROFILER_HIP_STREAM_SET, 3);
IS(ROCPROFILER_BUFFER_POLICY_LOSSLESS, 2);
IS(ROCPROFILER_BUFFER_CATEGORY_COUNTERS, 3);
IS(ROCPROFILER_ROCJPEG_LIBRARY, 64);
IS(ROCPROFILER_MARKER_NAME_TABLE, 32);
IS(ROCPROFILER_ROCJPEG_TABLE, 256);
IS(ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH, 11);
IS(ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_CORE_RANGE_API, 18);
IS(ROCPROFILER_THREAD_TRACE_PARAMETER_LAST, 7);
IS(ROCPROFILER_THREAD_TRACE_CONTROL_START_AND_STOP, 3);
IS(ROCPROFILER_THREAD_TRACE_DECODER_INFO_LAST, 3);
IS(ROCPROFILER_THREAD_TRACE_DECODER_INST_LAST, 13);
IS(ROCPROFILER_THREAD_TRACE_DECODER_RECORD_LAST, 6);
IS(ROCPROFILER_HIP_RUNTIME_API_ID_hipExtLaunchKernel, 84);
IS(ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDevice, 102);
IS(ROCPROFILER_HIP_RUNTIME_API_ID_hipGraphLaunch, 166);
IS(ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel, 214);
IS(ROCPROFILER_HIP_RUNTIME_API_ID_hipMemcpyAsync, 268);
IS(ROCPROFILER_HIP_RUNTIME_API_ID_hipModuleLaunchKernel, 308);
IS(ROCPROFILER_HIP_RUNTIME_API_ID_hipSetDevice, 327);
IS(ROCPROFILER_HIP_RUNTIME_API_ID_hipMemGetHandleForAddressRange, 476);
IS(ROCPROFILER_HIP_RUNTIME_API_ID_LAST, 506);
IS(ROCPROFILER_HIP_COMPILER_API_ID_LAST, 9);
IS(ROCPROFILER_HSA_CORE_API_ID_LAST, 125);
IS(ROCPROFILER_HSA_AMD_EXT_API_ID_LAST, 76);
IS(ROCPROFILER_HSA_IMAGE_EXT_API_ID_LAST, 14);
IS(ROCPROFILER_HSA_FINALIZE_EXT_API_ID_LAST, 6);
IS(ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerPause, 0);
