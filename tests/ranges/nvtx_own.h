/* SPDX-License-Identifier: MIT */
/* NVTX 3 as a program sees it, for machines without NVIDIA's headers: its functions and types, on
 * top of tables of pointers that the library in NVTX_INJECTION64_PATH fills in. Contains only the
 * names that nvtx_said.c uses. */
#ifndef NVTX_OWN_H
#define NVTX_OWN_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

typedef void *nvtxDomainHandle_t, *nvtxStringHandle_t, *nvtxSyncUser_t, *nvtxResourceHandle_t;
typedef uint64_t nvtxRangeId_t;

enum { NVTX_VERSION = 3, NVTX_COLOR_ARGB = 1 };
enum { NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE, NVTX_MESSAGE_TYPE_REGISTERED };
enum {
	NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
	NVTX_PAYLOAD_TYPE_INT64,
	NVTX_PAYLOAD_TYPE_DOUBLE,
	NVTX_PAYLOAD_TYPE_UNSIGNED_INT32,
	NVTX_PAYLOAD_TYPE_INT32,
	NVTX_PAYLOAD_TYPE_FLOAT
};

typedef struct {
	uint16_t version, size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType, reserved0;
	union {
		uint64_t ullValue;
		int64_t llValue;
		double dValue;
		uint32_t uiValue;
		int32_t iValue;
		float fValue;
	} payload;
	int32_t messageType;
	union {
		const char *ascii;
		const wchar_t *unicode;
		nvtxStringHandle_t registered;
	} message;
} nvtxEventAttributes_t;

typedef struct {
	uint16_t version, size;
	int32_t messageType;
	union {
		const char *ascii;
	} message;
} nvtxSyncUserAttributes_t;

enum { NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE = sizeof(nvtxSyncUserAttributes_t) };
enum { NVTX_EVENT_ATTRIB_STRUCT_SIZE = sizeof(nvtxEventAttributes_t) };

typedef void (*nvtx_fn)(void);
enum { NVTX_MODULES = 7, NVTX_FUNCTIONS = 16 };
static nvtx_fn nvtx_functions[NVTX_MODULES][NVTX_FUNCTIONS];

static int get_nvtx_table(int module, nvtx_fn ***table, unsigned *size)
{
	static nvtx_fn *pointers[NVTX_MODULES][NVTX_FUNCTIONS];
	static const unsigned sizes[NVTX_MODULES] = {0, 16, 9, 15, 7, 16, 7};

	for (unsigned i = 1; i < sizes[module]; i++)
		pointers[module][i] = &nvtx_functions[module][i];
	*table = pointers[module];
	*size = sizes[module];
	return 1;
}

static const void *get_nvtx_export(uint32_t number)
{
	static const struct {
		size_t size;
		int (*get_table)(int module, nvtx_fn ***table, unsigned *size);
	} callbacks = {sizeof callbacks, get_nvtx_table};

	return number == 1 ? &callbacks : NULL;
}

static void *open_nvtx(const char *initialize)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;

	return library ? dlsym(library, initialize) : NULL;
}

static void nvtx_ready(void)
{
	static int ready;
	int (*initialize)(const void *(*)(uint32_t));

	if (ready++)
		return;
	*(void **)&initialize = open_nvtx("InitializeInjectionNvtx2");
	if (initialize)
		initialize(get_nvtx_export);
}

/* NVTX_DO: for a function that returns nothing */
#define NVTX_FN(module, number, type) ((type)(void *)(uintptr_t)nvtx_functions[module][number])
#define NVTX_DO(name, module, number, list, ...)                            \
	static inline void name list                                        \
	{                                                                   \
		nvtx_ready();                                               \
		if (nvtx_functions[module][number])                         \
			NVTX_FN(module, number, void(*) list)(__VA_ARGS__); \
	}
#define NVTX_GET(type, name, module, number, list, ...)                             \
	static inline type name list                                                \
	{                                                                           \
		nvtx_ready();                                                       \
		return nvtx_functions[module][number]                               \
			       ? NVTX_FN(module, number, type(*) list)(__VA_ARGS__) \
			       : (type)0;                                           \
	}
typedef const nvtxEventAttributes_t *nvtx_said;
NVTX_DO(nvtxMarkEx, 1, 1, (nvtx_said a), a)
NVTX_DO(nvtxMarkA, 1, 2, (const char *m), m)
NVTX_GET(nvtxRangeId_t, nvtxRangeStartA, 1, 5, (const char *m), m)
NVTX_DO(nvtxRangeEnd, 1, 7, (nvtxRangeId_t id), id)
NVTX_GET(int, nvtxRangePushEx, 1, 8, (nvtx_said a), a)
NVTX_GET(int, nvtxRangePushA, 1, 9, (const char *m), m)
NVTX_GET(int, nvtxRangePop, 1, 11, (void))
NVTX_DO(nvtxNameCategoryA, 1, 12, (uint32_t c, const char *m), c, m)
NVTX_DO(nvtxNameOsThreadA, 1, 14, (uint32_t t, const char *m), t, m)
NVTX_DO(nvtxNameOsThreadW, 1, 15, (uint32_t t, const wchar_t *m), t, m)
NVTX_DO(nvtxDomainMarkEx, 5, 1, (nvtxDomainHandle_t d, nvtx_said a), d, a)
NVTX_GET(nvtxRangeId_t, nvtxDomainRangeStartEx, 5, 2, (nvtxDomainHandle_t d, nvtx_said a), d, a)
NVTX_DO(nvtxDomainRangeEnd, 5, 3, (nvtxDomainHandle_t d, nvtxRangeId_t id), d, id)
NVTX_GET(int, nvtxDomainRangePushEx, 5, 4, (nvtxDomainHandle_t d, nvtx_said a), d, a)
NVTX_GET(int, nvtxDomainRangePop, 5, 5, (nvtxDomainHandle_t d), d)
NVTX_DO(nvtxDomainNameCategoryA, 5, 8, (nvtxDomainHandle_t d, uint32_t c, const char *m), d, c, m)
NVTX_GET(nvtxStringHandle_t, nvtxDomainRegisterStringA, 5, 10,
	 (nvtxDomainHandle_t d, const char *m), d, m)
NVTX_GET(nvtxDomainHandle_t, nvtxDomainCreateA, 5, 12, (const char *m), m)
NVTX_GET(nvtxDomainHandle_t, nvtxDomainCreateW, 5, 13, (const wchar_t *m), m)
NVTX_DO(nvtxDomainDestroy, 5, 14, (nvtxDomainHandle_t d), d)
NVTX_DO(nvtxInitialize, 5, 15, (const void *reserved), reserved)
NVTX_DO(nvtxNameCuDeviceA, 2, 1, (int device, const char *m), device, m)
NVTX_DO(nvtxNameCuContextA, 2, 3, (void *context, const char *m), context, m)
NVTX_DO(nvtxNameCuStreamA, 2, 5, (void *stream, const char *m), stream, m)
NVTX_DO(nvtxNameCudaStreamA, 4, 3, (void *stream, const char *m), stream, m)
NVTX_DO(nvtxNameCudaStreamW, 4, 4, (void *stream, const wchar_t *m), stream, m)
NVTX_GET(nvtxSyncUser_t, nvtxDomainSyncUserCreate, 6, 1,
	 (nvtxDomainHandle_t d, const nvtxSyncUserAttributes_t *a), d, a)
NVTX_DO(nvtxDomainSyncUserDestroy, 6, 2, (nvtxSyncUser_t s), s)
NVTX_DO(nvtxDomainSyncUserAcquireStart, 6, 3, (nvtxSyncUser_t s), s)
NVTX_DO(nvtxDomainSyncUserAcquireSuccess, 6, 5, (nvtxSyncUser_t s), s)
NVTX_DO(nvtxDomainSyncUserReleasing, 6, 6, (nvtxSyncUser_t s), s)

/* The payload extension. */

#define NVTX_PAYLOAD_TYPE_EXT           ((int32_t)0xDFBD0009)
#define NVTX_PAYLOAD_SCHEMA_TYPE_STATIC 1
enum {
	NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE = 1 << 4,
	NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE = 1 << 10,
	NVTX_PAYLOAD_ENTRY_TYPE_UINT8 = 12,
	NVTX_PAYLOAD_ENTRY_TYPE_INT32 = 15,
	NVTX_PAYLOAD_ENTRY_TYPE_UINT64 = 18,
	NVTX_PAYLOAD_ENTRY_TYPE_FLOAT = 19,
	NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE = 20,
	NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16 = 42,
	NVTX_PAYLOAD_ENTRY_TYPE_CSTRING = 75,
	NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE = 80,
	NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME = 1 << 1,
	NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE = 1 << 2,
	NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES = 1 << 4,
	NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES = 1 << 5,
	NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE = 1 << 6,
	NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID = 1 << 8,
	NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES = 1 << 2,
	NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES = 1 << 3,
	NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE = 1 << 4
};

typedef struct {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t arrayOrUnionDetail, offset;
	const void *semantics, *reserved;
} nvtxPayloadSchemaEntry_t;

typedef struct {
	uint64_t fieldMask;
	const char *name;
	uint64_t type, flags;
	const nvtxPayloadSchemaEntry_t *entries;
	size_t numEntries, payloadStaticSize, packAlign;
	uint64_t schemaId;
	void *extension;
} nvtxPayloadSchemaAttr_t;

typedef struct {
	const char *name;
	uint64_t value;
	int8_t isFlag;
} nvtxPayloadEnum_t;

typedef struct {
	uint64_t fieldMask;
	const char *name;
	const nvtxPayloadEnum_t *entries;
	size_t numEntries, sizeOfEnum;
	uint64_t schemaId;
	void *extension;
} nvtxPayloadEnumAttr_t;

typedef struct {
	uint64_t schemaId;
	size_t size;
	const void *payload;
} nvtxPayloadData_t;

static intptr_t nvtx_slots[63];

static void nvtx_extension_ready(void)
{
	static int ready;
	static struct {
		size_t id, count;
		intptr_t *slots;
	} segment = {0, 63, nvtx_slots};
	static struct {
		uint16_t version, size, module, compatible;
		size_t segment_count;
		void *segments;
		const void *export_function, *info;
	} info = {3, sizeof info, 2, 0x0104, 1, &segment, NULL, NULL};
	int (*initialize)(void *);

	nvtx_ready();
	if (ready++)
		return;
	*(void **)&initialize = open_nvtx("InitializeInjectionNvtxExtension");
	if (initialize)
		initialize(&info);
}

#define NVTX_SLOT(type, name, number, list, ...)                                            \
	static inline type name list                                                        \
	{                                                                                   \
		nvtx_extension_ready();                                                     \
		return nvtx_slots[number] ? ((type(*) list)nvtx_slots[number])(__VA_ARGS__) \
					  : (type)0;                                        \
	}
typedef const nvtxPayloadData_t *nvtx_data;
NVTX_SLOT(uint64_t, nvtxPayloadSchemaRegister, 0,
	  (nvtxDomainHandle_t d, const nvtxPayloadSchemaAttr_t *a), d, a)
NVTX_SLOT(uint64_t, nvtxPayloadEnumRegister, 1,
	  (nvtxDomainHandle_t d, const nvtxPayloadEnumAttr_t *a), d, a)
NVTX_SLOT(int, nvtxRangePushPayload, 3, (nvtxDomainHandle_t d, nvtx_data p, size_t n), d, p, n)
NVTX_SLOT(int, nvtxRangePopPayload, 4, (nvtxDomainHandle_t d, nvtx_data p, size_t n), d, p, n)
NVTX_SLOT(uint8_t, nvtxDomainIsEnabled, 7, (nvtxDomainHandle_t d), d)

#endif
