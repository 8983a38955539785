/* SPDX-License-Identifier: MIT */
/* The part of NVTX 3 inside a program, as NVIDIA's headers define it: pointers to functions, which
 * the library in NVTX_INJECTION64_PATH replaces. For machines without these headers. */
#ifndef NVTX_CLIENT_H
#define NVTX_CLIENT_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

struct nvtx_message {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type; /* 1: char, 2: wchar_t, 3: registered */
	const void *message;
};

typedef void (*nvtx_fn)(void);
enum { NVTX_CORE = 12, NVTX_CORE2 = 16 };
static nvtx_fn nvtx_core[NVTX_CORE], nvtx_core2[NVTX_CORE2];

static int get_nvtx_table(int module, nvtx_fn ***table, unsigned *size)
{
	static nvtx_fn *core[NVTX_CORE + 1], *core2[NVTX_CORE2 + 1];

	for (int i = 1; i < NVTX_CORE; i++)
		core[i] = &nvtx_core[i];
	for (int i = 1; i < NVTX_CORE2; i++)
		core2[i] = &nvtx_core2[i];
	*table = module == 1 ? core : core2;
	*size = module == 1 ? NVTX_CORE : NVTX_CORE2;
	return module == 1 || module == 5;
}

static const void *get_nvtx_export(uint32_t number)
{
	static const struct {
		size_t size;
		int (*get_table)(int module, nvtx_fn ***table, unsigned *size);
	} callbacks = {sizeof callbacks, get_nvtx_table};

	return number == 1 ? &callbacks : NULL;
}

/* Return false if no library replaces the functions. */
static int open_nvtx(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(const void *(*)(uint32_t));

	*(void **)&initialize = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
	return initialize && initialize(get_nvtx_export);
}

#define NVTX_CALL(table, number, type) ((type)(void *)(uintptr_t)(table)[number])
#define nvtxMarkA(text)                NVTX_CALL(nvtx_core, 2, void (*)(const char *))(text)
#define nvtxRangeStartA(text)          NVTX_CALL(nvtx_core, 5, uint64_t (*)(const char *))(text)
#define nvtxRangeStartW(text)          NVTX_CALL(nvtx_core, 6, uint64_t (*)(const wchar_t *))(text)
#define nvtxRangeEnd(id)               NVTX_CALL(nvtx_core, 7, void (*)(uint64_t))(id)
#define nvtxRangePushA(text)           NVTX_CALL(nvtx_core, 9, int (*)(const char *))(text)
#define nvtxRangePushW(text)           NVTX_CALL(nvtx_core, 10, int (*)(const wchar_t *))(text)
#define nvtxRangePop()                 NVTX_CALL(nvtx_core, 11, int (*)(void))()

#define nvtxDomainMarkEx(d, a) NVTX_CALL(nvtx_core2, 1, void (*)(void *, const void *))(d, a)
#define nvtxDomainRangeStartEx(d, a) \
	NVTX_CALL(nvtx_core2, 2, uint64_t (*)(void *, const void *))(d, a)
#define nvtxDomainRangeEnd(d, id) NVTX_CALL(nvtx_core2, 3, void (*)(void *, uint64_t))(d, id)
#define nvtxDomainRegisterStringW(d, text) \
	NVTX_CALL(nvtx_core2, 11, void *(*)(void *, const wchar_t *))(d, text)

#endif
