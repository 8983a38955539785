/* SPDX-License-Identifier: MIT */
/* Declares the parts of Level Zero's structures and numbers that gputap uses, so that no Level Zero
 * header is needed. The tests compare these declarations with the headers
 * (tests/test_level_zero.py). */
#ifndef GPUTAP_RUNTIME_LEVEL_ZERO_ABI_H
#define GPUTAP_RUNTIME_LEVEL_ZERO_ABI_H

#include <stdint.h>

enum {
	LZ_SUCCESS = 0,
	LZ_QUERY_TRUE = 0x78000022,
	LZ_ERROR_DEVICE_LOST = 0x70000001,
	LZ_ERROR_DEVICE_REQUIRES_RESET = 0x70020000,
	LZ_QUEUE_DESC = 0xe,
	LZ_LIST_DESC = 0xf,
	LZ_EVENT_POOL_DESC = 0x10,
	LZ_EVENT_DESC = 0x11,
	LZ_HOST_MEMORY_DESC = 0x16,
	LZ_MEMORY_PROPERTIES = 0x17,
	LZ_KERNEL_PROPERTIES = 0x1e,
	LZ_DEVICE_PROPERTIES_1_2 = 0x00020006, /* timer_resolution is in ticks per second */
	LZ_COUNTER_BASED_EVENT_POOL_DESC = 0x00020014,
	LZ_MUTABLE_GROUPS = 0x0002001a,
	LZ_MUTABLE_GROUP_SIZE = 0x0002001b,
	LZ_DRIVER_DDI_HANDLES_PROPERTIES = 0x00020027,
	LZ_DRIVER_DDI_HANDLES = 1,
	LZ_EVENT_POOL_HOST_VISIBLE = 1,
	LZ_EVENT_POOL_IPC = 2,
	LZ_QUEUE_IN_ORDER = 2, /* flag in the properties of an immediate list */
	LZ_LIST_IN_ORDER = 8,
	LZ_EVENT_POOL_TIMES = 4,
	LZ_EVENT_POOL_MAPPED_TIMES = 8,
	LZ_EVENT_SCOPE_HOST = 4,
};

/* Head of each structure in a chain. */
struct lz_chained {
	uint32_t type;
	struct lz_chained *next;
};

/* Changes of a command in a mutable list. */
struct lz_mutable_groups {
	struct lz_chained head;
	uint64_t command;
	const uint32_t *groups; /* three group counts */
};

struct lz_mutable_group_size {
	struct lz_chained head;
	uint64_t command;
	uint32_t size[3];
};

struct lz_driver_ddi_handles_properties {
	struct lz_chained head;
	uint32_t flags;
};

struct lz_device_properties {
	struct lz_chained head;
	uint32_t type, vendor_id, device_id, flags, subdevice_id, core_clock_rate;
	uint64_t max_allocation;
	uint32_t max_contexts, max_priority, threads_per_eu, simd_width, eus, subslices, slices;
	uint64_t timer_resolution; /* in ticks per second; in older drivers, in ns per tick */
	uint32_t timestamp_bits, kernel_timestamp_bits;
	uint8_t uuid[16];
	char name[256];
};

struct lz_queue_desc {
	struct lz_chained head;
	uint32_t ordinal, index, flags, mode, priority;
};
enum { LZ_QUEUE_SYNCHRONOUS = 1 };

struct lz_list_desc {
	struct lz_chained head;
	uint32_t ordinal, flags;
};

struct lz_memory_properties {
	struct lz_chained head;
	uint32_t type;
	uint64_t id, page_size;
};
enum { LZ_MEMORY_DEVICE = 2, LZ_MEMORY_SHARED = 3 };

struct lz_host_memory_desc {
	struct lz_chained head;
	uint32_t flags;
};

struct lz_event_pool_desc {
	struct lz_chained head;
	uint32_t flags, count;
};

struct lz_event_desc {
	struct lz_chained head;
	uint32_t index, signal, wait;
};

/* Level Zero's structure; Intel's earlier extension has the same layout. */
struct lz_counter_based_desc {
	struct lz_chained head;
	uint32_t flags, signal, wait;
};
enum {
	LZ_COUNTER_BASED_HOST_VISIBLE = 4,
	LZ_COUNTER_BASED_IPC = 8,
	LZ_COUNTER_BASED_TIMES = 16,
	LZ_COUNTER_BASED_MAPPED_TIMES = 32,
};

struct lz_kernel_desc {
	struct lz_chained head;
	uint32_t flags;
	const char *name;
};

struct lz_kernel_properties {
	struct lz_chained head;
	uint32_t arguments, required_group[3], required_subgroups, required_subgroup_size;
	uint32_t max_subgroup_size, max_subgroups, local_bytes, private_bytes, spill_bytes;
	uint8_t uuid[32];
};

struct lz_image_desc {
	struct lz_chained head;
	uint32_t flags, type, layout, channels, swizzle[4];
	uint64_t width;
	uint32_t height, depth, array_levels, mip_levels;
};
enum {
	LZ_IMAGE_1D_ARRAY = 1,
	LZ_IMAGE_2D,
	LZ_IMAGE_2D_ARRAY,
	LZ_IMAGE_3D,
	LZ_IMAGE_BUFFER,
};

/* Memory regions are in bytes, image regions in texels. */
struct lz_copy_region {
	uint32_t x, y, z, width, height, depth;
};

struct lz_kernel_times {
	uint64_t start, end, context_start, context_end;
};

#endif
