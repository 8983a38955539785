/* SPDX-License-Identifier: MIT */
/* What the software driver has of the CUDA driver API, under the names that libcuda.so.1 exports:
 * for the driver itself, and for programs of tests that are built where NVIDIA's headers are not.
 * Prototypes (calls.h) and values are NVIDIA's; structs are opaque but for the one that launches
 * take.
 *
 * A kernel is a function of the host, in a shared object that is loaded as a module:
 *
 *	SOFT_CUDA_KERNEL(add, sizeof(float *), sizeof(int))
 *	{
 *		float *array = *(float **)arguments[0];
 *		..                                   once for each thread of each block
 *	}
 */
#ifndef SOFT_CUDA_API_H
#define SOFT_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#include "soft/cuda/calls.h"

#define SOFT_CUDA_VERSION 13000 /* cuDriverGetVersion() */

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_IMAGE = 200,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_FILE_NOT_FOUND = 301,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_ILLEGAL_ADDRESS = 700,
	CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
	CUDA_ERROR_LAUNCH_FAILED = 719,
};

typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct soft_cu_context *CUcontext;
typedef struct soft_cu_stream *CUstream;
typedef struct soft_cu_event *CUevent;
typedef struct soft_cu_module *CUmodule;
typedef struct soft_cu_function *CUfunction;
typedef struct {
	unsigned char bytes[16];
} CUuuid;
typedef struct {
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	void *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;
typedef void CUhostFn(void *data);
typedef void CUstreamCallback(CUstream stream, int status, void *data);

#define CU_STREAM_LEGACY     ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)
enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DISABLE_TIMING = 2 };
/* of cuGetProcAddress() */
enum { CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2 };

/* Kernels ---------------------------------------------------------------------- */

struct soft_cuda_position {
	struct {
		unsigned int x, y, z;
	} block_index, thread_index, grid_dim, block_dim;
	void *shared; /* the block's, all zero at its first thread */
};

struct soft_cuda_parameters {
	uint32_t count;
	uint32_t bytes[16];
};

#define SOFT_CUDA_KERNEL(name, ...)                                                                \
	__attribute__((visibility("default")))                                                     \
	const struct soft_cuda_parameters name##_parameters = {sizeof((uint32_t[]){__VA_ARGS__}) / \
								       4,                          \
							       {__VA_ARGS__}};                     \
	__attribute__((visibility("default"))) void name(const struct soft_cuda_position *at,      \
							 void **arguments);                        \
	void name(const struct soft_cuda_position *at __attribute__((unused)),                     \
		  void **arguments __attribute__((unused)))

/* Functions -------------------------------------------------------------------- */

#define CUDA_API __attribute__((visibility("default")))

#define X(name, ...)         CUDA_API int name(SOFT_CUDA_LIST(DECLARE, __VA_ARGS__));
#define B(name, suffix, ...) X(name, __VA_ARGS__) X(name##suffix, __VA_ARGS__)
#define V(name)              CUDA_API int name(void);
SOFT_CUDA_CALLS(X, B, V)
#undef X
#undef B
#undef V

#endif
