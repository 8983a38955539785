/* SPDX-License-Identifier: MIT */
/* The part of HSA's ABI that gputap needs to record GPU activities, so that gputap does not depend
 * on HSA headers. Handles are 64-bit numbers and queues are pointers; packets and signals have the
 * memory layout that the HSA and AMD specifications define. tests/test_activity_rocm_abi.py
 * compares this file with the distribution's headers. */
#ifndef GPUTAP_RUNTIME_HSA_ABI_H
#define GPUTAP_RUNTIME_HSA_ABI_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_HSA_SUCCESS = 0, GT_HSA_INFO_BREAK = 1 };

/* hsa_agent_info_t and AMD's additions */
enum gt_hsa_agent_info {
	GT_HSA_AGENT_NAME = 0,           /* char[64] */
	GT_HSA_AGENT_VENDOR_NAME = 1,    /* char[64] */
	GT_HSA_AGENT_WAVEFRONT_SIZE = 6, /* uint32_t */
	GT_HSA_AGENT_QUEUE_MIN_SIZE = 13,
	GT_HSA_AGENT_QUEUE_MAX_SIZE = 14, /* uint32_t: packets */
	GT_HSA_AGENT_NODE = 16,           /* uint32_t */
	GT_HSA_AGENT_DEVICE = 17,         /* uint32_t: 0 CPU, 1 GPU */
	GT_HSA_AGENT_CHIP_ID = 0xa000,
	GT_HSA_AGENT_COMPUTE_UNITS = 0xa002,
	GT_HSA_AGENT_MAX_CLOCK_MHZ = 0xa003,
	GT_HSA_AGENT_DRIVER_NODE = 0xa004,
	GT_HSA_AGENT_BDFID = 0xa006,
	GT_HSA_AGENT_PRODUCT_NAME = 0xa009, /* char[64] */
	GT_HSA_AGENT_MAX_WAVES_PER_CU = 0xa00a,
	GT_HSA_AGENT_SIMDS_PER_CU = 0xa00b,
	GT_HSA_AGENT_SHADER_ENGINES = 0xa00c,
	GT_HSA_AGENT_PCI_DOMAIN = 0xa00f,
	GT_HSA_AGENT_UUID = 0xa011, /* char[21] */
};
/* hsa_signal_condition_t */
enum { GT_HSA_CONDITION_EQ, GT_HSA_CONDITION_NE, GT_HSA_CONDITION_LT, GT_HSA_CONDITION_GTE };

enum { GT_HSA_DEVICE_CPU = 0, GT_HSA_DEVICE_GPU = 1 };

/* hsa_system_info_t */
enum { GT_HSA_SYSTEM_TIMESTAMP = 2, GT_HSA_SYSTEM_TIMESTAMP_FREQUENCY = 3 };

/* hsa_executable_symbol_info_t */
enum gt_hsa_symbol_info {
	GT_HSA_SYMBOL_TYPE = 0, /* uint32_t: 1 kernel */
	GT_HSA_SYMBOL_NAME_LENGTH = 1,
	GT_HSA_SYMBOL_NAME = 2,
	GT_HSA_SYMBOL_KERNARG_BYTES = 11,
	GT_HSA_SYMBOL_KERNARG_ALIGNMENT = 12,
	GT_HSA_SYMBOL_GROUP_BYTES = 13,
	GT_HSA_SYMBOL_PRIVATE_BYTES = 14,
	GT_HSA_SYMBOL_KERNEL_OBJECT = 22,
};
enum { GT_HSA_SYMBOL_KERNEL = 1 };

/* hsa_executable_info_t, hsa_executable_state_t */
enum { GT_HSA_EXECUTABLE_STATE = 2, GT_HSA_EXECUTABLE_FROZEN = 1 };

/* hsa_ven_amd_loader_loaded_code_object_info_t */
enum gt_hsa_loaded_info {
	GT_HSA_LOADED_AGENT = 3,
	GT_HSA_LOADED_STORAGE_TYPE = 4, /* uint32_t: 0 none, 1 file, 2 memory */
	GT_HSA_LOADED_MEMORY_BASE = 5,
	GT_HSA_LOADED_MEMORY_BYTES = 6,
	GT_HSA_LOADED_FILE = 7,
	GT_HSA_LOADED_DELTA = 8, /* int64_t */
	GT_HSA_LOADED_BASE = 9,
	GT_HSA_LOADED_BYTES = 10,
	GT_HSA_LOADED_URI_LENGTH = 11, /* uint32_t */
	GT_HSA_LOADED_URI = 12,
};
enum { GT_HSA_EXTENSION_AMD_LOADER = 0x201 };

/* hsa_ven_amd_loader_1_03_pfn_t. Earlier versions end before the last two members. */
struct gt_hsa_loader {
	int (*query_host_address)(const void *device, const void **host);
	int (*query_segment_descriptors)(void *descriptors, size_t *count);
	int (*query_executable)(const void *device, uint64_t *executable);
	int (*iterate_loaded_code_objects)(uint64_t executable,
					   int (*each)(uint64_t executable, uint64_t loaded,
						       void *data),
					   void *data);
	int (*loaded_code_object_get_info)(uint64_t loaded, unsigned int attribute, void *value);
	void *create_reader;
	int (*iterate_executables)(int (*each)(uint64_t executable, void *data), void *data);
};

/* hsa_amd_memory_pool_info_t */
enum { GT_HSA_POOL_SEGMENT = 0, GT_HSA_POOL_FLAGS = 1 };
enum { GT_HSA_SEGMENT_GLOBAL = 0, GT_HSA_POOL_FINE_GRAINED = 2 };

/* Packets -------------------------------------------------------------------- */

enum gt_hsa_packet_type {
	GT_HSA_PACKET_VENDOR = 0,
	GT_HSA_PACKET_INVALID = 1,
	GT_HSA_PACKET_KERNEL = 2,
	GT_HSA_PACKET_BARRIER_AND = 3,
	GT_HSA_PACKET_AGENT = 4,
	GT_HSA_PACKET_BARRIER_OR = 5,
};
#define GT_HSA_PACKET_TYPE(header) ((header)&0xffu)
#define GT_HSA_PACKET_BARRIER_BIT  (1u << 8)
#define GT_HSA_FENCES(header)      ((header) & (0xfu << 9)) /* acquire and release scopes */

struct gt_hsa_kernel_packet {
	uint16_t header, setup;
	uint16_t local[3], reserved0;
	uint32_t grid[3];
	uint32_t private_bytes, group_bytes;
	uint64_t kernel_object;
	uint64_t kernarg;
	uint64_t reserved2;
	uint64_t completion_signal;
};

struct gt_hsa_barrier_packet {
	uint16_t header, reserved0;
	uint32_t reserved1;
	uint64_t dependency[5];
	uint64_t reserved2;
	uint64_t completion_signal;
};

union gt_hsa_packet {
	struct gt_hsa_kernel_packet kernel;
	struct gt_hsa_barrier_packet barrier;
};
static_assert(sizeof(union gt_hsa_packet) == 64 &&
		      offsetof(struct gt_hsa_kernel_packet, completion_signal) == 56 &&
		      offsetof(struct gt_hsa_kernel_packet, kernel_object) == 32 &&
		      offsetof(struct gt_hsa_barrier_packet, completion_signal) == 56,
	      "AQL packets are 64 bytes");

/* Signals, queues -------------------------------------------------------------- */

/* amd_signal_t; a signal's handle is its address. */
struct gt_hsa_signal {
	int64_t kind; /* 1: usable by programs */
	_Atomic int64_t value;
	uint64_t event_mailbox;
	uint32_t event_id, reserved1;
	/* raw device time stamps; the packet processor writes them before `value` */
	_Atomic uint64_t start_ts, end_ts;
	uint64_t queue;
	uint32_t reserved3[2];
};
static_assert(sizeof(struct gt_hsa_signal) == 64 && offsetof(struct gt_hsa_signal, start_ts) == 32,
	      "amd_signal_t");
/* For a doorbell, `value` is the address of the device's doorbell. */
enum { GT_HSA_SIGNAL_USER = 1, GT_HSA_SIGNAL_DOORBELL = -1 };
enum { GT_HSA_SIGNAL_GPU_ONLY = 1 }; /* HSA_AMD_SIGNAL_AMD_GPU_ONLY: no interrupt */

/* amd_queue_t. The first member is the hsa_queue_t that programs get. Kernels and HIP read this
 * struct. */
struct gt_hsa_queue_abi {
	uint32_t type, features;
	void *base_address;
	uint64_t doorbell_signal;
	uint32_t size, reserved1;
	uint64_t id;
	uint32_t reserved2[4];
	_Atomic uint64_t write_dispatch_id;
	uint32_t apertures[2], limits[2];
	uint64_t legacy[2];
	uint32_t reserved3[8];
	_Atomic uint64_t read_dispatch_id;
	uint32_t reserved4[2], scratch_buffer[4];
	_Atomic uint64_t scratch_address;
	uint64_t scratch_bytes;
	_Atomic uint32_t scratch_lane_bytes;
	uint32_t properties; /* changed by the runtime */
	uint8_t rest[72];
};
static_assert(offsetof(struct gt_hsa_queue_abi, write_dispatch_id) == 56 &&
		      offsetof(struct gt_hsa_queue_abi, read_dispatch_id) == 128 &&
		      offsetof(struct gt_hsa_queue_abi, scratch_address) == 160 &&
		      offsetof(struct gt_hsa_queue_abi, scratch_lane_bytes) == 176 &&
		      offsetof(struct gt_hsa_queue_abi, properties) == 180 &&
		      sizeof(struct gt_hsa_queue_abi) == 256,
	      "amd_queue_t");

enum { GT_HSA_FEATURE_KERNELS = 1 };     /* HSA_QUEUE_FEATURE_KERNEL_DISPATCH */
enum { GT_HSA_QUEUE_PROFILED = 1 << 3 }; /* AMD_QUEUE_PROPERTIES_ENABLE_PROFILING */

typedef void gt_hsa_queue_callback(int status, void *queue, void *data);

/* hsa_amd_event_t */
struct gt_hsa_event {
	uint32_t type; /* 0: a memory fault */
	uint64_t agent, address;
	uint32_t reasons;
};
enum { GT_HSA_MEMORY_FAULT = 0, GT_HSA_ERROR = 0x1000 };

/* hsa_amd_event_scratch_*_t: the common members, followed by the members of an allocation. */
struct gt_hsa_scratch_event {
	uint32_t kind;
	const struct gt_hsa_queue_abi *queue;
	uint32_t flags;
	uint64_t dispatch;
	uint64_t bytes, slots; /* set only in the end event */
};
typedef int gt_hsa_scratch_fn(const struct gt_hsa_scratch_event *event);

/* Operations of ToolsApiTable (ROCm 6), which has a start entry and an end entry for each. */
enum gt_hsa_scratch_operation {
	GT_HSA_SCRATCH_ALLOC,
	GT_HSA_SCRATCH_FREE,
	GT_HSA_SCRATCH_RECLAIM,
	GT_HSA_SCRATCH_OPERATIONS
};
static_assert(offsetof(struct gt_hsa_scratch_event, queue) == 8 &&
		      offsetof(struct gt_hsa_scratch_event, dispatch) == 24 &&
		      sizeof(struct gt_hsa_scratch_event) == 48,
	      "hsa_amd_event_scratch_alloc_end_t");

struct gt_hsa_times {
	uint64_t start, end; /* system clock domain */
};

struct gt_hsa_dim3 {
	uint32_t x, y, z;
};

#endif
