/* SPDX-License-Identifier: MIT */
/* A program for the CUDA driver API on the software driver. It counts its calls and prints the
 * counts as JSON. With -DLINKED it is linked with libcuda.so.1; otherwise it looks up its
 * functions.
 *
 *   driver_program MODULE LAUNCHES THREADS symbols|address|per-thread|address-old
 *   driver_program MODULE fault            a kernel that faults
 *   driver_program MODULE fork             calls in the child of a fork */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft/cuda/cuda_api.h"

enum { NUMBERS = 1000 };

/* X(name for cuGetProcAddress(), symbol, symbol of the form for the thread's default stream) */
#define FUNCTIONS(X)                                                                             \
	X(cuInit, cuInit, cuInit)                                                                \
	X(cuDriverGetVersion, cuDriverGetVersion, cuDriverGetVersion)                            \
	X(cuGetErrorName, cuGetErrorName, cuGetErrorName)                                        \
	X(cuDeviceGet, cuDeviceGet, cuDeviceGet)                                                 \
	X(cuDeviceGetName, cuDeviceGetName, cuDeviceGetName)                                     \
	X(cuDeviceGetAttribute, cuDeviceGetAttribute, cuDeviceGetAttribute)                      \
	X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)          \
	X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease_v2) \
	X(cuCtxSetCurrent, cuCtxSetCurrent, cuCtxSetCurrent)                                     \
	X(cuCtxSynchronize, cuCtxSynchronize, cuCtxSynchronize)                                  \
	X(cuStreamCreate, cuStreamCreate, cuStreamCreate)                                        \
	X(cuStreamDestroy, cuStreamDestroy_v2, cuStreamDestroy_v2)                               \
	X(cuStreamSynchronize, cuStreamSynchronize, cuStreamSynchronize_ptsz)                    \
	X(cuStreamQuery, cuStreamQuery, cuStreamQuery_ptsz)                                      \
	X(cuStreamWaitEvent, cuStreamWaitEvent, cuStreamWaitEvent_ptsz)                          \
	X(cuLaunchHostFunc, cuLaunchHostFunc, cuLaunchHostFunc_ptsz)                             \
	X(cuEventCreate, cuEventCreate, cuEventCreate)                                           \
	X(cuEventDestroy, cuEventDestroy_v2, cuEventDestroy_v2)                                  \
	X(cuEventRecord, cuEventRecord, cuEventRecord_ptsz)                                      \
	X(cuEventElapsedTime, cuEventElapsedTime, cuEventElapsedTime)                            \
	X(cuMemAlloc, cuMemAlloc_v2, cuMemAlloc_v2)                                              \
	X(cuMemFree, cuMemFree_v2, cuMemFree_v2)                                                 \
	X(cuMemHostAlloc, cuMemHostAlloc, cuMemHostAlloc)                                        \
	X(cuMemFreeHost, cuMemFreeHost, cuMemFreeHost)                                           \
	X(cuMemAllocAsync, cuMemAllocAsync, cuMemAllocAsync_ptsz)                                \
	X(cuMemFreeAsync, cuMemFreeAsync, cuMemFreeAsync_ptsz)                                   \
	X(cuMemcpyHtoD, cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds)                                   \
	X(cuMemcpyDtoH, cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds)                                   \
	X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz)                    \
	X(cuMemsetD32Async, cuMemsetD32Async, cuMemsetD32Async_ptsz)                             \
	X(cuModuleLoad, cuModuleLoad, cuModuleLoad)                                              \
	X(cuModuleUnload, cuModuleUnload, cuModuleUnload)                                        \
	X(cuModuleGetFunction, cuModuleGetFunction, cuModuleGetFunction)                         \
	X(cuModuleGetGlobal, cuModuleGetGlobal_v2, cuModuleGetGlobal_v2)                         \
	X(cuLaunchKernel, cuLaunchKernel, cuLaunchKernel_ptsz)                                   \
	X(cuLaunchKernelEx, cuLaunchKernelEx, cuLaunchKernelEx_ptsz)

enum id {
#define X(name, symbol, per_thread) ID_##name,
	FUNCTIONS(X)
#undef X
		ID_COUNT
};

#ifdef LINKED
/* as NVIDIA's header defines it */
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuStreamDestroy           cuStreamDestroy_v2
#define cuEventDestroy            cuEventDestroy_v2
#define cuMemAlloc                cuMemAlloc_v2
#define cuMemFree                 cuMemFree_v2
#define cuMemcpyHtoD              cuMemcpyHtoD_v2
#define cuMemcpyDtoH              cuMemcpyDtoH_v2
#define cuMemcpyHtoDAsync         cuMemcpyHtoDAsync_v2
#define cuModuleGetGlobal         cuModuleGetGlobal_v2
#define SLOT(name)                NULL
#define FUNCTION(name)            name
#else
static struct {
#define X(name, symbol, per_thread) __typeof__(symbol) *name;
	FUNCTIONS(X)
#undef X
} api;
#define SLOT(name)     (void **)&api.name
#define FUNCTION(name) api.name
#endif

static struct {
	const char *name, *symbol, *per_thread;
	void **slot;
	_Atomic long calls;
} functions[] = {
#define X(name, symbol, per_thread) {#name, #symbol, #per_thread, SLOT(name), 0},
	FUNCTIONS(X)
#undef X
};

#define COUNTED(name, ...) \
	(atomic_fetch_add(&functions[ID_##name].calls, 1), FUNCTION(name)(__VA_ARGS__))
#define CALL(name, ...)                                              \
	do {                                                         \
		int status_;                                         \
		atomic_fetch_add(&functions[ID_##name].calls, 1);    \
		status_ = FUNCTION(name)(__VA_ARGS__);               \
		if (status_) {                                       \
			fprintf(stderr, "%s: %d\n", #name, status_); \
			exit(1);                                     \
		}                                                    \
	} while (0)

/* Function lookup ------------------------------------------------------------------- */

static long lookups, lookups_old;
static int is_per_thread;

#ifdef LINKED
static void find_functions(const char *way)
{
	(void)way;
}
#else
static void find_by_symbol(void *driver)
{
	for (int i = 0; i < ID_COUNT; i++)
		*functions[i].slot = dlsym(driver, functions[i].symbol);
}

static void find_by_address(void *driver)
{
	__typeof__(cuGetProcAddress_v2) *look =
		(__typeof__(look))dlsym(driver, "cuGetProcAddress_v2");
	unsigned status;

	/* cuGetProcAddress returns itself, as libcudart expects */
	lookups++;
	if (look("cuGetProcAddress", (void **)&look, SOFT_CUDA_VERSION, 0, &status) || status)
		exit(1);
	for (int i = 0; i < ID_COUNT; i++) {
		lookups++;
		if (look(functions[i].name, functions[i].slot, SOFT_CUDA_VERSION,
			 is_per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0,
			 &status) ||
		    status)
			exit(1);
	}
}

static void find_by_old_address(void *driver)
{
	__typeof__(cuGetProcAddress) *look = (__typeof__(look))dlsym(driver, "cuGetProcAddress");

	for (int i = 0; i < ID_COUNT; i++) {
		lookups_old++;
		if (look(functions[i].name, functions[i].slot, 11080, 0))
			exit(1);
	}
}

static void find_functions(const char *way)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!driver) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	is_per_thread = !strcmp(way, "per-thread");
	if (!strcmp(way, "symbols"))
		find_by_symbol(driver);
	else if (!strcmp(way, "address-old"))
		find_by_old_address(driver);
	else
		find_by_address(driver);
}
#endif

static void print_calls(void)
{
	printf("{");
	for (int i = 0; i < ID_COUNT; i++)
		if (functions[i].calls)
			printf("\"%s\": %ld, ",
			       is_per_thread ? functions[i].per_thread : functions[i].symbol,
			       functions[i].calls);
	if (lookups)
		printf("\"cuGetProcAddress_v2\": %ld, ", lookups);
	if (lookups_old)
		printf("\"cuGetProcAddress\": %ld, ", lookups_old);
	printf("\"total\": 0}\n");
	fflush(stdout);
}

/* Work ------------------------------------------------------------------------------ */

static CUcontext context;
static CUmodule module;
static CUfunction add;
static int launches;

static void count_host(void *data)
{
	++*(int *)data;
}

static void *work(void *data)
{
	int *numbers, host_calls = 0, count = NUMBERS, one = 1;
	CUevent begin, end;
	CUstream stream, other;
	CUdeviceptr memory, scratch;
	void *arguments[] = {&memory, &count, &one};
	float ms;

	(void)data;
	CALL(cuCtxSetCurrent, context);
	CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
	CALL(cuStreamCreate, &other, 0);
	CALL(cuEventCreate, &begin, 0);
	CALL(cuEventCreate, &end, 0);
	CALL(cuMemAlloc, &memory, NUMBERS * sizeof(int));
	CALL(cuMemHostAlloc, (void **)&numbers, NUMBERS * sizeof(int), 0);
	CALL(cuMemAllocAsync, &scratch, 4096, stream);
	CALL(cuMemsetD32Async, scratch, 7, 1024, stream);
	memset(numbers, 0, NUMBERS * sizeof(int));
	CALL(cuMemcpyHtoD, memory, numbers, 16);
	CALL(cuMemcpyHtoDAsync, memory, numbers, NUMBERS * sizeof(int), stream);
	CALL(cuEventRecord, begin, stream);
	for (int i = 0; i < launches; i++) {
		CUlaunchConfig config = {4, 1, 1, 256, 1, 1, 0, stream, NULL, 0};

		if (i % 2)
			CALL(cuLaunchKernelEx, &config, add, arguments, NULL);
		else
			CALL(cuLaunchKernel, add, 4, 1, 1, 256, 1, 1, 0, stream, arguments, NULL);
	}
	CALL(cuEventRecord, end, stream);
	CALL(cuStreamWaitEvent, other, end, 0);
	CALL(cuLaunchHostFunc, other, count_host, &host_calls);
	CALL(cuMemFreeAsync, scratch, stream);
	CALL(cuStreamSynchronize, other);
	CALL(cuStreamSynchronize, stream);
	CALL(cuStreamQuery, stream);
	CALL(cuStreamSynchronize, NULL);
	CALL(cuEventElapsedTime, &ms, begin, end);
	CALL(cuMemcpyDtoH, numbers, memory, NUMBERS * sizeof(int));
	for (int i = 0; i < NUMBERS; i++)
		if (numbers[i] != launches || host_calls != 1) {
			fprintf(stderr, "number %d is %d, host function ran %d times\n", i,
				numbers[i], host_calls);
			exit(1);
		}
	CALL(cuMemFreeHost, numbers);
	CALL(cuMemFree, memory);
	CALL(cuEventDestroy, begin);
	CALL(cuEventDestroy, end);
	CALL(cuStreamDestroy, stream);
	CALL(cuStreamDestroy, other);
	return NULL;
}

static void start(const char *file)
{
	int version, value;
	CUdevice device;
	char name[64];

	CALL(cuInit, 0);
	CALL(cuDriverGetVersion, &version);
	CALL(cuDeviceGet, &device, 0);
	CALL(cuDeviceGetName, name, sizeof name, device);
	CALL(cuDeviceGetAttribute, &value, 75, device);
	CALL(cuDevicePrimaryCtxRetain, &context, device);
	CALL(cuCtxSetCurrent, context);
	CALL(cuModuleLoad, &module, file);
	CALL(cuModuleGetFunction, &add, module, "add_numbers");
}

/* Each of these calls fails, and is recorded as failed. */
static void fail(void)
{
	const char *name;
	CUdeviceptr memory;
	CUfunction none;

	if (COUNTED(cuMemAlloc, &memory, 0) != CUDA_ERROR_INVALID_VALUE ||
	    COUNTED(cuModuleGetFunction, &none, module, "no_such_kernel") != CUDA_ERROR_NOT_FOUND ||
	    COUNTED(cuMemFree, 0x10) != CUDA_ERROR_INVALID_VALUE)
		exit(1);
	CALL(cuGetErrorName, CUDA_ERROR_NOT_FOUND, &name);
	if (strcmp(name, "CUDA_ERROR_NOT_FOUND") != 0)
		exit(1);
}

static int fault(void)
{
	CUdeviceptr memory, nowhere = 16;
	void *arguments[] = {&nowhere};
	CUfunction f;

	CALL(cuModuleGetFunction, &f, module, "fault");
	CALL(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL);
	if (COUNTED(cuCtxSynchronize) != CUDA_ERROR_ILLEGAL_ADDRESS ||
	    COUNTED(cuMemAlloc, &memory, 16) != CUDA_ERROR_ILLEGAL_ADDRESS)
		return 1;
	print_calls();
	return 0;
}

static int forked(void)
{
	pid_t child = fork();
	int status = 1;

	if (!child) {
		CUdeviceptr memory;

		_exit(COUNTED(cuMemAlloc, &memory, 16) != CUDA_ERROR_NOT_INITIALIZED);
	}
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	functions[ID_cuMemAlloc].calls++; /* a call by the child */
	print_calls();
	return 0;
}

int main(int argc, char **argv)
{
	const int threads = argc > 3 ? atoi(argv[3]) : 1;
	pthread_t thread[16];
	CUdeviceptr variable;
	size_t bytes;
	int seen;

	if (argc < 3 || threads < 1 || threads > 16)
		return 2;
	find_functions(argc > 4 ? argv[4] : "symbols");
	start(argv[1]);
	if (!strcmp(argv[2], "fault"))
		return fault();
	if (!strcmp(argv[2], "fork"))
		return forked();
	launches = atoi(argv[2]);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	fail();
	CALL(cuCtxSynchronize);
	CALL(cuModuleGetGlobal, &variable, &bytes, module, "launches_seen");
	seen = *(int *)(uintptr_t)variable;
	if (bytes != sizeof seen || (threads == 1 && seen != launches))
		return 1;
	CALL(cuModuleUnload, module);
	CALL(cuDevicePrimaryCtxRelease, 0);
	print_calls();
	return 0;
}
