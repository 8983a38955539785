/* SPDX-License-Identifier: MIT */
/* API of libcudart.so.13, a substitute for NVIDIA's runtime on top of the software driver
 * (cudart.c). The declarations follow NVIDIA's documentation, so NVIDIA's headers are not
 * needed. */
#ifndef SOFT_CUDA_CUDART_API_H
#define SOFT_CUDA_CUDART_API_H

#include <stddef.h>

typedef int cudaError_t;
typedef struct soft_cu_stream *cudaStream_t; /* the driver's stream */
typedef struct soft_cu_event *cudaEvent_t;
typedef void (*cudaHostFn_t)(void *data);

enum {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInitializationError = 3,
	cudaErrorInvalidDeviceFunction = 98,
	cudaErrorNoDevice = 100,
	cudaErrorInvalidDevice = 101,
	cudaErrorNotReady = 600,
};

enum {
	cudaMemcpyHostToHost = 0,
	cudaMemcpyHostToDevice = 1,
	cudaMemcpyDeviceToHost = 2,
	cudaMemcpyDeviceToDevice = 3,
	cudaMemcpyDefault = 4,
};

typedef struct {
	unsigned int x, y, z;
} dim3;

typedef struct {
	dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
	void *attrs;
	unsigned int numAttrs;
} cudaLaunchConfig_t;

#pragma GCC visibility push(default)

/* Calls that a compiler generates. In this substitute, the image is the file name of a module, and
 * the kernel name is that of the kernel for a function of the program. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *function, char *device_function,
			    const char *name, int threads, void *thread, void *block,
			    void *block_size, void *grid_size, int *warp);
void __cudaUnregisterFatBinary(void **handle);

cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
					     unsigned int version, unsigned long long flags,
					     int *status);

cudaError_t cudaMalloc(void **address, size_t bytes);
cudaError_t cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMallocHost(void **address, size_t bytes);
cudaError_t cudaHostAlloc(void **address, size_t bytes, unsigned int flags);
cudaError_t cudaMallocManaged(void **address, size_t bytes, unsigned int flags);
cudaError_t cudaMallocAsync(void **address, size_t bytes, cudaStream_t stream);
cudaError_t cudaFree(void *address);
cudaError_t cudaFreeHost(void *address);
cudaError_t cudaFreeAsync(void *address, cudaStream_t stream);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
			    cudaStream_t stream);
cudaError_t cudaMemset(void *address, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *address, int value, size_t bytes, cudaStream_t stream);

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags);

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end);

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
			     size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
				void **arguments);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);

#pragma GCC visibility pop

#endif
