/* SPDX-License-Identifier: MIT */
/* Names of rocprofiler-sdk 0.4 and 0.5 that 1.0 no longer has. Define GPUTAP_ROCPROFILER_0_5 to get
 * these names. Also define GPUTAP_ROCPROFILER_0_4 for sources written for 0.4, whose API differs
 * from 0.5 in places. The library never records the driver's page migrations or samples of program
 * counters, so the records of both are only declared. C++ sources for these versions rely on
 * <memory> and <thread> being included. */
#ifndef GPUTAP_COMPAT_ROCPROFILER_SDK_DEPRECATED_VERSION_0_5_H
#define GPUTAP_COMPAT_ROCPROFILER_SDK_DEPRECATED_VERSION_0_5_H

#ifdef GPUTAP_ROCPROFILER_0_5

#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/device_counting_service.h>
#include <rocprofiler-sdk/dispatch_counting_service.h>
#include <rocprofiler-sdk/pc_sampling.h>

#ifdef __cplusplus
#include <memory>
#include <thread>
#endif

ROCPROFILER_EXTERN_C_INIT

/* Counters of dispatches and of agents. */
typedef rocprofiler_dispatch_counting_service_data_t rocprofiler_profile_counting_dispatch_data_t;
typedef rocprofiler_dispatch_counting_service_record_t
	rocprofiler_profile_counting_dispatch_record_t;
typedef rocprofiler_dispatch_counting_service_cb_t rocprofiler_profile_counting_dispatch_callback_t;
typedef rocprofiler_dispatch_counting_record_cb_t rocprofiler_profile_counting_record_callback_t;
typedef rocprofiler_device_counting_service_cb_t rocprofiler_agent_profile_callback_t;
#define rocprofiler_configure_buffered_dispatch_profile_counting_service \
	rocprofiler_configure_buffer_dispatch_counting_service
#define rocprofiler_configure_callback_dispatch_profile_counting_service \
	rocprofiler_configure_callback_dispatch_counting_service
#define rocprofiler_configure_agent_profile_counting_service \
	rocprofiler_configure_device_counting_service
#define rocprofiler_sample_agent_profile_counting_service(context, user_data, flags) \
	rocprofiler_sample_device_counting_service(context, user_data, flags, NULL, NULL)

/* Page migrations. */
typedef enum rocprofiler_page_migration_operation_t {
	ROCPROFILER_PAGE_MIGRATION_NONE = 0,
	ROCPROFILER_PAGE_MIGRATION_PAGE_MIGRATE,
	ROCPROFILER_PAGE_MIGRATION_PAGE_FAULT,
	ROCPROFILER_PAGE_MIGRATION_QUEUE_SUSPEND,
	ROCPROFILER_PAGE_MIGRATION_UNMAP_FROM_GPU,
	ROCPROFILER_PAGE_MIGRATION_LAST
} rocprofiler_page_migration_operation_t;

typedef enum rocprofiler_page_migration_trigger_t {
	ROCPROFILER_PAGE_MIGRATION_TRIGGER_NONE = -1,
	ROCPROFILER_PAGE_MIGRATION_TRIGGER_PREFETCH,
	ROCPROFILER_PAGE_MIGRATION_TRIGGER_PAGEFAULT_GPU,
	ROCPROFILER_PAGE_MIGRATION_TRIGGER_PAGEFAULT_CPU,
	ROCPROFILER_PAGE_MIGRATION_TRIGGER_TTM_EVICTION,
	ROCPROFILER_PAGE_MIGRATION_TRIGGER_LAST
} rocprofiler_page_migration_trigger_t;

typedef enum rocprofiler_page_migration_queue_suspend_trigger_t {
	ROCPROFILER_PAGE_MIGRATION_QUEUE_SUSPEND_TRIGGER_NONE = -1,
	ROCPROFILER_PAGE_MIGRATION_QUEUE_SUSPEND_TRIGGER_SVM,
	ROCPROFILER_PAGE_MIGRATION_QUEUE_SUSPEND_TRIGGER_USERPTR,
	ROCPROFILER_PAGE_MIGRATION_QUEUE_SUSPEND_TRIGGER_TTM,
	ROCPROFILER_PAGE_MIGRATION_QUEUE_SUSPEND_TRIGGER_SUSPEND,
	ROCPROFILER_PAGE_MIGRATION_QUEUE_SUSPEND_TRIGGER_CRIU_CHECKPOINT,
	ROCPROFILER_PAGE_MIGRATION_QUEUE_SUSPEND_TRIGGER_CRIU_RESTORE,
	ROCPROFILER_PAGE_MIGRATION_QUEUE_SUSPEND_TRIGGER_LAST
} rocprofiler_page_migration_queue_suspend_trigger_t;

typedef enum rocprofiler_page_migration_unmap_from_gpu_trigger_t {
	ROCPROFILER_PAGE_MIGRATION_UNMAP_FROM_GPU_TRIGGER_NONE = -1,
	ROCPROFILER_PAGE_MIGRATION_UNMAP_FROM_GPU_TRIGGER_MMU_NOTIFY,
	ROCPROFILER_PAGE_MIGRATION_UNMAP_FROM_GPU_TRIGGER_MMU_NOTIFY_MIGRATE,
	ROCPROFILER_PAGE_MIGRATION_UNMAP_FROM_GPU_TRIGGER_UNMAP_FROM_CPU,
	ROCPROFILER_PAGE_MIGRATION_UNMAP_FROM_GPU_TRIGGER_LAST
} rocprofiler_page_migration_unmap_from_gpu_trigger_t;

typedef struct rocprofiler_buffer_tracing_page_migration_page_fault_record_t {
	uint8_t read_fault : 1;
	uint8_t migrated   : 1;
	uint32_t node_id;
	uint64_t address;
} rocprofiler_buffer_tracing_page_migration_page_fault_record_t;

typedef struct rocprofiler_buffer_tracing_page_migration_page_migrate_record_t {
	uint64_t start_addr, end_addr;
	uint32_t from_node, to_node, prefetch_node, preferred_node;
	rocprofiler_page_migration_trigger_t trigger;
} rocprofiler_buffer_tracing_page_migration_page_migrate_record_t;

typedef struct rocprofiler_buffer_tracing_page_migration_queue_suspend_record_t {
	uint8_t rescheduled : 1;
	uint32_t node_id;
	rocprofiler_page_migration_queue_suspend_trigger_t trigger;
} rocprofiler_buffer_tracing_page_migration_queue_suspend_record_t;

typedef struct rocprofiler_buffer_tracing_page_migration_unmap_from_gpu_record_t {
	uint32_t node_id;
	uint64_t start_addr, end_addr;
	rocprofiler_page_migration_unmap_from_gpu_trigger_t trigger;
} rocprofiler_buffer_tracing_page_migration_unmap_from_gpu_record_t;

typedef struct rocprofiler_buffer_tracing_page_migration_record_t {
	uint64_t size;
	rocprofiler_buffer_tracing_kind_t kind;
	rocprofiler_tracing_operation_t operation;
	rocprofiler_timestamp_t start_timestamp, end_timestamp;
	uint32_t pid;
	union {
		rocprofiler_buffer_tracing_page_migration_page_fault_record_t page_fault;
		rocprofiler_buffer_tracing_page_migration_page_migrate_record_t page_migrate;
		rocprofiler_buffer_tracing_page_migration_queue_suspend_record_t queue_suspend;
		rocprofiler_buffer_tracing_page_migration_unmap_from_gpu_record_t unmap_from_gpu;
		uint64_t reserved[12];
	};
} rocprofiler_buffer_tracing_page_migration_record_t;

/* Samples of program counters. Version 1.0 reuses the original numbers of these kinds. The numbers
 * defined here occur in no record. */
enum {
	ROCPROFILER_PC_SAMPLING_RECORD_SAMPLE = 1000,
	ROCPROFILER_PC_SAMPLING_RECORD_CODE_OBJECT_LOAD_MARKER,
	ROCPROFILER_PC_SAMPLING_RECORD_CODE_OBJECT_UNLOAD_MARKER
};

typedef struct rocprofiler_pc_sampling_header_v1_t {
	uint8_t valid            : 1;
	uint8_t type             : 4;
	uint8_t has_stall_reason : 1;
	uint8_t has_wave_cnt     : 1;
	uint8_t reserved         : 1;
} rocprofiler_pc_sampling_header_v1_t;

typedef struct rocprofiler_pc_sampling_snapshot_v1_t {
	uint32_t dual_issue_valu   : 1;
	uint32_t inst_type         : 4;
	uint32_t reason_not_issued : 7;
	uint32_t arb_state_issue   : 10;
	uint32_t arb_state_stall   : 10;
} rocprofiler_pc_sampling_snapshot_v1_t;

typedef struct rocprofiler_pc_sampling_record_t {
	uint64_t size;
	rocprofiler_pc_sampling_header_v1_t flags;
	uint8_t chiplet;
	uint8_t wave_id;
	uint8_t wave_issued : 1;
	uint8_t reserved    : 7;
	uint32_t hw_id;
#ifdef GPUTAP_ROCPROFILER_0_4
	uint64_t pc;
#else
	struct {
		uint64_t loaded_code_object_id;
		uint64_t loaded_code_object_offset;
	} pc;
#endif
	uint64_t exec_mask;
	rocprofiler_dim3_t workgroup_id;
	uint32_t wave_count;
	uint64_t timestamp;
	rocprofiler_async_correlation_id_t correlation_id;
	rocprofiler_pc_sampling_snapshot_v1_t snapshot;
	uint32_t reserved2;
} rocprofiler_pc_sampling_record_t;

typedef struct rocprofiler_pc_sampling_code_object_load_marker_t {
	uint64_t size;
	uint64_t code_object_id;
} rocprofiler_pc_sampling_code_object_load_marker_t;

typedef struct rocprofiler_pc_sampling_code_object_unload_marker_t {
	uint64_t size;
	uint64_t code_object_id;
} rocprofiler_pc_sampling_code_object_unload_marker_t;

#define rocprofiler_configure_pc_sampling_service(context, agent, method, unit, interval, buffer) \
	(rocprofiler_configure_pc_sampling_service)(context, agent, method, unit, interval,       \
						    buffer, 0)

ROCPROFILER_EXTERN_C_FINI

#endif

#endif
