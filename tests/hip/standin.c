/* SPDX-License-Identifier: MIT */
/* A library with a few of HIP's functions, for situations that no real library provides on demand:
 * several copies in one process, functions returned as addresses, calls to exports of the same
 * library, symbols in the older kind of hash table. REGISTERS: the library offers its table to
 * tools, as ROCm 6 does, and must not be interposed. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void **__hipRegisterFatBinary(const void *data);
EXPORT int hipMalloc(void **p, size_t size);
EXPORT int hipMallocPitch(void **p, size_t *pitch, size_t width, size_t height);
EXPORT int hipFree(void *p);
EXPORT int hipGetDeviceCount(int *count);
EXPORT int hipGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags,
			     unsigned *status);

#ifdef REGISTERS
extern int rocprofiler_register_library_api_table(void) __attribute__((weak));
#endif

void **__hipRegisterFatBinary(const void *data)
{
	static void *module;

	module = (void *)(uintptr_t)data;
#ifdef REGISTERS
	if (rocprofiler_register_library_api_table)
		rocprofiler_register_library_api_table();
#endif
	return &module;
}

int hipMalloc(void **p, size_t size)
{
	*p = malloc(size);
	return *p ? 0 : 2;
}

/* Call another function through this library's PLT, as Debian's library does in a dozen places. */
int hipMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + 255) / 256 * 256;
	return hipMalloc(p, *pitch * height);
}

int hipFree(void *p)
{
	free(p);
	return 0;
}

int hipGetDeviceCount(int *count)
{
	*count = COPY;
	return 0;
}

/* Not exported: reachable only through its address. */
static int hidden(int device)
{
	return device == COPY ? 0 : 101;
}

int hipGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags, unsigned *status)
{
	(void)version, (void)flags, (void)status;
	*pfn = !strcmp(symbol, "hipMalloc")      ? (void *)hipMalloc
	       : !strcmp(symbol, "hipSetDevice") ? (void *)hidden
						 : NULL;
	return *pfn ? 0 : 1;
}
