/* SPDX-License-Identifier: MIT */
/* The driver functions that the programs of the checks call. dlsym() looks them up, so no NVIDIA
 * headers are needed. The prototypes are those of soft/cuda/cuda_api.h, which equal NVIDIA's. */
#ifndef GPU_DRIVER_H
#define GPU_DRIVER_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "soft/cuda/cuda_api.h"

#define DRIVER_FUNCTIONS(X)                                        \
	X(cuInit, cuInit)                                          \
	X(cuDeviceGet, cuDeviceGet)                                \
	X(cuDeviceGetCount, cuDeviceGetCount)                      \
	X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)      \
	X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2) \
	X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2)     \
	X(cuCtxSetCurrent, cuCtxSetCurrent)                        \
	X(cuCtxGetCurrent, cuCtxGetCurrent)                        \
	X(cuCtxSynchronize, cuCtxSynchronize)                      \
	X(cuCtxDestroy, cuCtxDestroy_v2)                           \
	X(cuStreamCreate, cuStreamCreate)                          \
	X(cuStreamSynchronize, cuStreamSynchronize)                \
	X(cuStreamQuery, cuStreamQuery)                            \
	X(cuMemAlloc, cuMemAlloc_v2)                               \
	X(cuMemFree, cuMemFree_v2)                                 \
	X(cuMemAllocHost, cuMemAllocHost_v2)                       \
	X(cuMemcpyHtoD, cuMemcpyHtoD_v2)                           \
	X(cuMemcpyDtoH, cuMemcpyDtoH_v2)                           \
	X(cuMemcpyDtoD, cuMemcpyDtoD_v2)                           \
	X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2)                 \
	X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)                 \
	X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2)                 \
	X(cuMemsetD8, cuMemsetD8_v2)                               \
	X(cuMemsetD8Async, cuMemsetD8Async)                        \
	X(cuMemsetD16Async, cuMemsetD16Async)                      \
	X(cuMemsetD32Async, cuMemsetD32Async)                      \
	X(cuModuleLoad, cuModuleLoad)                              \
	X(cuModuleGetFunction, cuModuleGetFunction)                \
	X(cuLaunchKernel, cuLaunchKernel)                          \
	X(cuLaunchKernelEx, cuLaunchKernelEx)

static struct {
#define X(name, symbol) __typeof__(symbol) *name;
	DRIVER_FUNCTIONS(X)
#undef X
} driver;

static void *driver_library;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void check_status(const char *what, int status)
{
	if (status) {
		fprintf(stderr, "%s: %d\n", what, status);
		exit(3);
	}
}

#define CALL(name, ...) check_status(#name, driver.name(__VA_ARGS__))

/* Declare a function that soft/cuda/cuda_api.h may lack. */
static void *find_driver_function(const char *symbol)
{
	void *found = dlsym(driver_library, symbol);

	if (!found) {
		fprintf(stderr, "no %s\n", symbol);
		exit(4);
	}
	return found;
}

static void open_driver(void)
{
	driver_library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver_library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(4);
	}
#define X(name, symbol) driver.name = (__typeof__(driver.name))find_driver_function(#symbol);
	DRIVER_FUNCTIONS(X)
#undef X
}

#endif
