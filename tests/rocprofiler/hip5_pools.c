/* SPDX-License-Identifier: MIT */
/* Preloaded, so that programs that use hipFreeAsync() end on HIP 5.2.
 *
 * In that version hipStreamDestroy() never returns while a pool contains freed memory (its
 * Heap::RemoveStream() does not continue with the next heap), and only hipMemPoolTrimTo() removes
 * the memory from the pool. So this library empties the pool after each hipFreeAsync(). It calls
 * HIP directly, so that no tool is notified of these calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <hip/hip_runtime_api.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *found(void *where, const char *name)
{
	void *f = dlsym(where, name);

	if (!f) {
		fprintf(stderr, "hip5_pools: %s: %s\n", name, dlerror());
		abort();
	}
	return f;
}

#define NEXT(name) ((__typeof__(&name))found(RTLD_NEXT, #name))
#define HIPS(name) ((__typeof__(&name))found(hip, #name))

hipError_t hipFreeAsync(void *memory, hipStream_t stream)
{
	void *hip = dlopen("libamdhip64.so.5", RTLD_LAZY | RTLD_NOLOAD);
	hipMemPool_t pool;
	hipError_t error;
	int device;

	pthread_mutex_lock(&mutex);
	error = NEXT(hipFreeAsync)(memory, stream);
	if (HIPS(hipStreamSynchronize)(stream) == hipSuccess &&
	    HIPS(hipGetDevice)(&device) == hipSuccess &&
	    HIPS(hipDeviceGetDefaultMemPool)(&pool, device) == hipSuccess)
		HIPS(hipMemPoolTrimTo)(pool, 0);
	pthread_mutex_unlock(&mutex);
	return error;
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
	hipError_t error;

	pthread_mutex_lock(&mutex);
	error = NEXT(hipStreamDestroy)(stream);
	pthread_mutex_unlock(&mutex);
	return error;
}
