/* SPDX-License-Identifier: MIT */
/* Shared by the runtime's two files: the driver functions that the runtime has looked up, and the
 * functions that notify a tool of the start and end of each call.
 *
 *   cudaMalloc() ─ soft_rt_begin() ─ driver, via cuGetProcAddress_v2() ─ soft_rt_end() ─► status */
#ifndef SOFT_CUDA_CUDART_PARTS_H
#define SOFT_CUDA_CUDART_PARTS_H

#include "generated/cuda_runtime_ops.h"
#include "soft/cuda/cudart/cudart_api.h"
#include "soft/cuda/tools.h"

/* X(name for cuGetProcAddress_v2(), function with the prototype) */
#define SOFT_RT_DRIVER(X)                                      \
	X(cuInit, cuInit)                                      \
	X(cuDriverGetVersion, cuDriverGetVersion)              \
	X(cuGetErrorName, cuGetErrorName)                      \
	X(cuGetExportTable, cuGetExportTable)                  \
	X(cuDeviceGet, cuDeviceGet)                            \
	X(cuDeviceGetCount, cuDeviceGetCount)                  \
	X(cuDeviceGetAttribute, cuDeviceGetAttribute)          \
	X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)  \
	X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2) \
	X(cuCtxSetCurrent, cuCtxSetCurrent)                    \
	X(cuCtxGetCurrent, cuCtxGetCurrent)                    \
	X(cuCtxGetDevice, cuCtxGetDevice)                      \
	X(cuCtxSynchronize, cuCtxSynchronize)                  \
	X(cuModuleLoad, cuModuleLoad)                          \
	X(cuModuleGetFunction, cuModuleGetFunction)            \
	X(cuMemGetInfo, cuMemGetInfo_v2)                       \
	X(cuMemAlloc, cuMemAlloc_v2)                           \
	X(cuMemAllocPitch, cuMemAllocPitch_v2)                 \
	X(cuMemAllocHost, cuMemAllocHost_v2)                   \
	X(cuMemHostAlloc, cuMemHostAlloc)                      \
	X(cuMemAllocManaged, cuMemAllocManaged)                \
	X(cuMemAllocAsync, cuMemAllocAsync)                    \
	X(cuMemFree, cuMemFree_v2)                             \
	X(cuMemFreeHost, cuMemFreeHost)                        \
	X(cuMemFreeAsync, cuMemFreeAsync)                      \
	X(cuMemcpy, cuMemcpy)                                  \
	X(cuMemcpyAsync, cuMemcpyAsync)                        \
	X(cuMemsetD8, cuMemsetD8_v2)                           \
	X(cuMemsetD8Async, cuMemsetD8Async)                    \
	X(cuStreamCreate, cuStreamCreate)                      \
	X(cuStreamDestroy, cuStreamDestroy_v2)                 \
	X(cuStreamSynchronize, cuStreamSynchronize)            \
	X(cuStreamQuery, cuStreamQuery)                        \
	X(cuStreamWaitEvent, cuStreamWaitEvent)                \
	X(cuEventCreate, cuEventCreate)                        \
	X(cuEventDestroy, cuEventDestroy_v2)                   \
	X(cuEventRecord, cuEventRecord)                        \
	X(cuEventSynchronize, cuEventSynchronize)              \
	X(cuEventQuery, cuEventQuery)                          \
	X(cuEventElapsedTime, cuEventElapsedTime)              \
	X(cuLaunchKernel, cuLaunchKernel)                      \
	X(cuLaunchHostFunc, cuLaunchHostFunc)

struct soft_rt_driver {
#define X(name, form) __typeof__(&(form)) name;
	SOFT_RT_DRIVER(X)
#undef X
	__typeof__(&cuGetProcAddress_v2) cuGetProcAddress_v2;
	const struct soft_cu_tools_table *tools;
};
extern struct soft_rt_driver soft_rt __attribute__((visibility("hidden")));

/* A call by the program, from its start to its end. */
struct soft_rt_call {
	struct soft_cu_call call;
	bool is_seen;
};

/* Return success if the driver is available and the thread has a context, otherwise the error.
 * @number: GT_CUDA_RUNTIME_..., CUPTI's callback id. */
cudaError_t soft_rt_begin(struct soft_rt_call *call, uint32_t number, const char *name,
			  const void *parameters, const char *symbol)
	__attribute__((visibility("hidden")));
cudaError_t soft_rt_end(struct soft_rt_call *call, cudaError_t status)
	__attribute__((visibility("hidden")));

/* The thread's last error, and the function that chooses the thread's device. */
extern _Thread_local cudaError_t soft_rt_last __attribute__((visibility("hidden")));
cudaError_t soft_rt_choose_device(int device) __attribute__((visibility("hidden")));

#endif
