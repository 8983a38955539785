/* SPDX-License-Identifier: MIT */
/* Defines the numbers and layouts of NVTX 2 and 3, the interface between a program's copy of NVTX
 * and an injected library. Structs start with their size, and may be longer or shorter than those
 * declared here. Only for x86-64 and other 64-bit machines. */
#ifndef GPUTAP_NVTX_ABI_H
#define GPUTAP_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { NVTX_EXPORT_CALLBACKS = 1 };

/* Tables of pointers to a program's functions, one table per module. */
enum nvtx_module {
	NVTX_CORE = 1,
	NVTX_CUDA = 2,
	NVTX_OPENCL = 3,
	NVTX_CUDART = 4,
	NVTX_CORE2 = 5,
	NVTX_SYNC = 6
};

enum {
	NVTX_CORE_MARK_EX = 1,
	NVTX_CORE_MARK_A,
	NVTX_CORE_MARK_W,
	NVTX_CORE_START_EX,
	NVTX_CORE_START_A,
	NVTX_CORE_START_W,
	NVTX_CORE_END,
	NVTX_CORE_PUSH_EX,
	NVTX_CORE_PUSH_A,
	NVTX_CORE_PUSH_W,
	NVTX_CORE_POP,
	NVTX_CORE_CATEGORY_A,
	NVTX_CORE_CATEGORY_W,
	NVTX_CORE_THREAD_A,
	NVTX_CORE_THREAD_W
};

enum {
	NVTX_CORE2_MARK_EX = 1,
	NVTX_CORE2_START_EX,
	NVTX_CORE2_END,
	NVTX_CORE2_PUSH_EX,
	NVTX_CORE2_POP,
	NVTX_CORE2_RESOURCE_CREATE,
	NVTX_CORE2_RESOURCE_DESTROY,
	NVTX_CORE2_CATEGORY_A,
	NVTX_CORE2_CATEGORY_W,
	NVTX_CORE2_STRING_A,
	NVTX_CORE2_STRING_W,
	NVTX_CORE2_DOMAIN_A,
	NVTX_CORE2_DOMAIN_W,
	NVTX_CORE2_DOMAIN_DESTROY,
	NVTX_CORE2_INITIALIZE
};

enum {
	NVTX_CUDA_DEVICE_A = 1,
	NVTX_CUDA_DEVICE_W,
	NVTX_CUDA_CONTEXT_A,
	NVTX_CUDA_CONTEXT_W,
	NVTX_CUDA_STREAM_A,
	NVTX_CUDA_STREAM_W,
	NVTX_CUDA_EVENT_A,
	NVTX_CUDA_EVENT_W
};

enum {
	NVTX_CUDART_DEVICE_A = 1,
	NVTX_CUDART_DEVICE_W,
	NVTX_CUDART_STREAM_A,
	NVTX_CUDART_STREAM_W,
	NVTX_CUDART_EVENT_A,
	NVTX_CUDART_EVENT_W
};

enum {
	NVTX_SYNC_CREATE = 1,
	NVTX_SYNC_DESTROY,
	NVTX_SYNC_ACQUIRE,
	NVTX_SYNC_FAILED,
	NVTX_SYNC_ACQUIRED,
	NVTX_SYNC_RELEASING
};

enum nvtx_message_type {
	NVTX_MESSAGE_ASCII = 1,
	NVTX_MESSAGE_WIDE = 2,
	NVTX_MESSAGE_REGISTERED = 3
};

enum nvtx_payload_type {
	NVTX_PAYLOAD_U64 = 1,
	NVTX_PAYLOAD_I64,
	NVTX_PAYLOAD_F64,
	NVTX_PAYLOAD_U32,
	NVTX_PAYLOAD_I32,
	NVTX_PAYLOAD_F32,
	/* in the payload extension: points to `reserved` of struct nvtx_payload */
	NVTX_PAYLOAD_EXTENDED = (int32_t)0xdfbd0009
};

struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type; /* 0 for none, 1 for ARGB */
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

struct nvtx_resource_attributes {
	uint16_t version, size;
	int32_t type; /* enum nvtx_resource */
	uint64_t identifier;
	int32_t message_type;
	const void *message;
};

enum nvtx_resource {
	NVTX_RESOURCE_THREAD_NATIVE = 1 << 16 | 3,
	NVTX_RESOURCE_THREAD_POSIX = 1 << 16 | 4,
	NVTX_RESOURCE_CUDA_DEVICE = 4 << 16 | 1,
	NVTX_RESOURCE_CUDA_CONTEXT = 4 << 16 | 2,
	NVTX_RESOURCE_CUDA_STREAM = 4 << 16 | 3,
	NVTX_RESOURCE_CUDA_EVENT = 4 << 16 | 4,
	NVTX_RESOURCE_CUDART_DEVICE = 5 << 16 | 0,
	NVTX_RESOURCE_CUDART_STREAM = 5 << 16 | 1,
	NVTX_RESOURCE_CUDART_EVENT = 5 << 16 | 2
};

/* nvtxSyncUserAttributes_t */
struct nvtx_sync_attributes {
	uint16_t version, size;
	int32_t message_type;
	const void *message;
};

typedef void (*nvtx_function)(void);

struct nvtx_callbacks {
	size_t struct_size;
	int (*get_module_table)(int module, nvtx_function ***table, unsigned *size);
};

/* In an extension, a module has slots for the addresses of functions. */
enum { NVTX_EXTENSION_PAYLOAD = 2 };
enum {
	NVTX_SLOT_SCHEMA = 0,
	NVTX_SLOT_ENUM = 1,
	NVTX_SLOT_MARK = 2,
	NVTX_SLOT_PUSH = 3,
	NVTX_SLOT_POP = 4,
	NVTX_SLOT_START = 5,
	NVTX_SLOT_END = 6,
	NVTX_SLOT_IS_ENABLED = 7
};

struct nvtx_segment {
	size_t id, slot_count;
	intptr_t *slots;
};

struct nvtx_extension {
	uint16_t version, size, module, compatible;
	size_t segment_count;
	struct nvtx_segment *segments;
	const void *export_function, *info;
};

struct nvtx_payload {
	uint64_t schema; /* a type below NVTX_SCHEMA_FIRST, or id of a schema or an enum */
	size_t bytes;    /* SIZE_MAX for the schema's size */
	const void *data;
};

#define NVTX_SCHEMA_FIRST   (UINT64_C(1) << 24)
#define NVTX_SCHEMA_DYNAMIC (UINT64_C(1) << 32)

enum {
	NVTX_ENTRY_POINTER = 1 << 1,
	NVTX_ENTRY_FROM_BASE = 1 << 2,
	NVTX_ENTRY_FROM_HERE = 1 << 3,
	NVTX_ENTRY_ARRAY = 7 << 4, /* mask for any kind of array */
	NVTX_ENTRY_FIXED = 1 << 4, /* array with a fixed number of elements */
	NVTX_ENTRY_HIDE = 1 << 9,
	NVTX_ENTRY_MESSAGE = 1 << 10
};

struct nvtx_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail; /* length of an array, or of a text inside the payload */
	uint64_t offset; /* 0 means after the previous entry, aligned, except for the first entry */
	const void *semantics, *reserved;
};

enum {
	NVTX_SCHEMA_HAS_NAME = 1 << 1,
	NVTX_SCHEMA_HAS_TYPE = 1 << 2,
	NVTX_SCHEMA_HAS_ENTRIES = 1 << 4,
	NVTX_SCHEMA_HAS_COUNT = 1 << 5,
	NVTX_SCHEMA_HAS_BYTES = 1 << 6,
	NVTX_SCHEMA_HAS_PACKED = 1 << 7,
	NVTX_SCHEMA_HAS_ID = 1 << 8,
	NVTX_SCHEMA_STATIC = 1,
	NVTX_ENUM_HAS_NAME = 1 << 1,
	NVTX_ENUM_HAS_ENTRIES = 1 << 2,
	NVTX_ENUM_HAS_COUNT = 1 << 3,
	NVTX_ENUM_HAS_BYTES = 1 << 4,
	NVTX_ENUM_HAS_ID = 1 << 5
};

struct nvtx_schema_attributes {
	uint64_t fields;
	const char *name;
	uint64_t type, flags;
	const struct nvtx_entry *entries;
	size_t entry_count, bytes, packed;
	uint64_t id;
	void *extension;
};

struct nvtx_enum_value {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

struct nvtx_enum_attributes {
	uint64_t fields;
	const char *name;
	const struct nvtx_enum_value *entries;
	size_t entry_count, bytes;
	uint64_t id;
	void *extension;
};

/* Types of entries. */
enum {
	NVTX_TYPE_CHAR = 1,
	NVTX_TYPE_UCHAR,
	NVTX_TYPE_SHORT,
	NVTX_TYPE_USHORT,
	NVTX_TYPE_INT,
	NVTX_TYPE_UINT,
	NVTX_TYPE_LONG,
	NVTX_TYPE_ULONG,
	NVTX_TYPE_LONGLONG,
	NVTX_TYPE_ULONGLONG,
	NVTX_TYPE_INT8,
	NVTX_TYPE_UINT8,
	NVTX_TYPE_INT16,
	NVTX_TYPE_UINT16,
	NVTX_TYPE_INT32,
	NVTX_TYPE_UINT32,
	NVTX_TYPE_INT64,
	NVTX_TYPE_UINT64,
	NVTX_TYPE_FLOAT,
	NVTX_TYPE_DOUBLE,
	NVTX_TYPE_SIZE = 22,
	NVTX_TYPE_ADDRESS = 23,
	NVTX_TYPE_BYTE = 32,
	NVTX_TYPE_FLOAT32 = 43,
	NVTX_TYPE_FLOAT64 = 44,
	NVTX_TYPE_RANGE_ID = 67,
	NVTX_TYPE_CATEGORY = 68,
	NVTX_TYPE_COLOR = 69,
	NVTX_TYPE_SCOPE = 70,
	NVTX_TYPE_PID32 = 71,
	NVTX_TYPE_PID64 = 72,
	NVTX_TYPE_TID32 = 73,
	NVTX_TYPE_TID64 = 74,
	NVTX_TYPE_TEXT = 75,
	NVTX_TYPE_TEXT_UTF8 = 76,
	NVTX_TYPE_REGISTERED = 80
};

#endif
