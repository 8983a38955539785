/* SPDX-License-Identifier: MIT */
/* What cuGetProcAddress() hands out: X(name that is asked for, release that brought this form,
 * symbol, its form for programs whose default stream is the thread's, or the symbol again). Forms
 * of one name stand together, the newest first. */
#ifndef SOFT_CUDA_FUNCTIONS_H
#define SOFT_CUDA_FUNCTIONS_H

#define SOFT_CUDA_PLAIN(X, name, release, symbol)   X(name, release, symbol, symbol)
#define SOFT_CUDA_STREAM(X, name, release, symbol)  X(name, release, symbol, symbol##_ptsz)
#define SOFT_CUDA_DEFAULT(X, name, release, symbol) X(name, release, symbol, symbol##_ptds)

#define SOFT_CUDA_FUNCTIONS(X)                                                               \
	SOFT_CUDA_PLAIN(X, cuInit, 2000, cuInit)                                             \
	SOFT_CUDA_PLAIN(X, cuDriverGetVersion, 2020, cuDriverGetVersion)                     \
	SOFT_CUDA_PLAIN(X, cuGetErrorName, 6000, cuGetErrorName)                             \
	SOFT_CUDA_PLAIN(X, cuGetErrorString, 6000, cuGetErrorString)                         \
	SOFT_CUDA_PLAIN(X, cuGetExportTable, 3000, cuGetExportTable)                         \
	SOFT_CUDA_PLAIN(X, cuGetProcAddress, 12000, cuGetProcAddress_v2)                     \
	SOFT_CUDA_PLAIN(X, cuGetProcAddress, 11030, cuGetProcAddress)                        \
	SOFT_CUDA_PLAIN(X, cuDeviceGet, 2000, cuDeviceGet)                                   \
	SOFT_CUDA_PLAIN(X, cuDeviceGetCount, 2000, cuDeviceGetCount)                         \
	SOFT_CUDA_PLAIN(X, cuDeviceGetName, 2000, cuDeviceGetName)                           \
	SOFT_CUDA_PLAIN(X, cuDeviceGetUuid, 11040, cuDeviceGetUuid_v2)                       \
	SOFT_CUDA_PLAIN(X, cuDeviceGetUuid, 9020, cuDeviceGetUuid)                           \
	SOFT_CUDA_PLAIN(X, cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2)                      \
	SOFT_CUDA_PLAIN(X, cuDeviceGetAttribute, 2000, cuDeviceGetAttribute)                 \
	SOFT_CUDA_PLAIN(X, cuDeviceComputeCapability, 2000, cuDeviceComputeCapability)       \
	SOFT_CUDA_PLAIN(X, cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain)         \
	SOFT_CUDA_PLAIN(X, cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2)   \
	SOFT_CUDA_PLAIN(X, cuDevicePrimaryCtxReset, 11000, cuDevicePrimaryCtxReset_v2)       \
	SOFT_CUDA_PLAIN(X, cuDevicePrimaryCtxGetState, 7000, cuDevicePrimaryCtxGetState)     \
	SOFT_CUDA_PLAIN(X, cuDevicePrimaryCtxSetFlags, 11000, cuDevicePrimaryCtxSetFlags_v2) \
	SOFT_CUDA_PLAIN(X, cuCtxCreate, 3020, cuCtxCreate_v2)                                \
	SOFT_CUDA_PLAIN(X, cuCtxDestroy, 4000, cuCtxDestroy_v2)                              \
	SOFT_CUDA_PLAIN(X, cuCtxPushCurrent, 4000, cuCtxPushCurrent_v2)                      \
	SOFT_CUDA_PLAIN(X, cuCtxPopCurrent, 4000, cuCtxPopCurrent_v2)                        \
	SOFT_CUDA_PLAIN(X, cuCtxSetCurrent, 4000, cuCtxSetCurrent)                           \
	SOFT_CUDA_PLAIN(X, cuCtxGetCurrent, 4000, cuCtxGetCurrent)                           \
	SOFT_CUDA_PLAIN(X, cuCtxGetDevice, 2000, cuCtxGetDevice)                             \
	SOFT_CUDA_PLAIN(X, cuCtxGetFlags, 7000, cuCtxGetFlags)                               \
	SOFT_CUDA_PLAIN(X, cuCtxGetApiVersion, 3020, cuCtxGetApiVersion)                     \
	SOFT_CUDA_PLAIN(X, cuCtxGetStreamPriorityRange, 5050, cuCtxGetStreamPriorityRange)   \
	SOFT_CUDA_PLAIN(X, cuCtxSynchronize, 2000, cuCtxSynchronize)                         \
	SOFT_CUDA_PLAIN(X, cuStreamCreate, 2000, cuStreamCreate)                             \
	SOFT_CUDA_PLAIN(X, cuStreamCreateWithPriority, 5050, cuStreamCreateWithPriority)     \
	SOFT_CUDA_PLAIN(X, cuStreamDestroy, 4000, cuStreamDestroy_v2)                        \
	SOFT_CUDA_STREAM(X, cuStreamSynchronize, 2000, cuStreamSynchronize)                  \
	SOFT_CUDA_STREAM(X, cuStreamQuery, 2000, cuStreamQuery)                              \
	SOFT_CUDA_STREAM(X, cuStreamWaitEvent, 3020, cuStreamWaitEvent)                      \
	SOFT_CUDA_STREAM(X, cuStreamAddCallback, 5000, cuStreamAddCallback)                  \
	SOFT_CUDA_STREAM(X, cuStreamGetFlags, 5050, cuStreamGetFlags)                        \
	SOFT_CUDA_STREAM(X, cuStreamGetPriority, 5050, cuStreamGetPriority)                  \
	SOFT_CUDA_STREAM(X, cuStreamGetCtx, 9020, cuStreamGetCtx)                            \
	SOFT_CUDA_STREAM(X, cuLaunchHostFunc, 10000, cuLaunchHostFunc)                       \
	SOFT_CUDA_PLAIN(X, cuEventCreate, 2000, cuEventCreate)                               \
	SOFT_CUDA_PLAIN(X, cuEventDestroy, 4000, cuEventDestroy_v2)                          \
	SOFT_CUDA_STREAM(X, cuEventRecord, 2000, cuEventRecord)                              \
	SOFT_CUDA_PLAIN(X, cuEventQuery, 2000, cuEventQuery)                                 \
	SOFT_CUDA_PLAIN(X, cuEventSynchronize, 2000, cuEventSynchronize)                     \
	SOFT_CUDA_PLAIN(X, cuEventElapsedTime, 2000, cuEventElapsedTime)                     \
	SOFT_CUDA_PLAIN(X, cuMemGetInfo, 3020, cuMemGetInfo_v2)                              \
	SOFT_CUDA_PLAIN(X, cuMemAlloc, 3020, cuMemAlloc_v2)                                  \
	SOFT_CUDA_PLAIN(X, cuMemAllocPitch, 3020, cuMemAllocPitch_v2)                        \
	SOFT_CUDA_PLAIN(X, cuMemAllocManaged, 6000, cuMemAllocManaged)                       \
	SOFT_CUDA_PLAIN(X, cuMemFree, 3020, cuMemFree_v2)                                    \
	SOFT_CUDA_PLAIN(X, cuMemAllocHost, 3020, cuMemAllocHost_v2)                          \
	SOFT_CUDA_PLAIN(X, cuMemHostAlloc, 2020, cuMemHostAlloc)                             \
	SOFT_CUDA_PLAIN(X, cuMemFreeHost, 2000, cuMemFreeHost)                               \
	SOFT_CUDA_PLAIN(X, cuMemHostGetDevicePointer, 3020, cuMemHostGetDevicePointer_v2)    \
	SOFT_CUDA_PLAIN(X, cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2)              \
	SOFT_CUDA_STREAM(X, cuMemAllocAsync, 11020, cuMemAllocAsync)                         \
	SOFT_CUDA_STREAM(X, cuMemFreeAsync, 11020, cuMemFreeAsync)                           \
	SOFT_CUDA_DEFAULT(X, cuMemcpy, 4000, cuMemcpy)                                       \
	SOFT_CUDA_DEFAULT(X, cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2)                            \
	SOFT_CUDA_DEFAULT(X, cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2)                            \
	SOFT_CUDA_DEFAULT(X, cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2)                            \
	SOFT_CUDA_STREAM(X, cuMemcpyAsync, 4000, cuMemcpyAsync)                              \
	SOFT_CUDA_STREAM(X, cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2)                   \
	SOFT_CUDA_STREAM(X, cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2)                   \
	SOFT_CUDA_STREAM(X, cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2)                   \
	SOFT_CUDA_DEFAULT(X, cuMemsetD8, 3020, cuMemsetD8_v2)                                \
	SOFT_CUDA_DEFAULT(X, cuMemsetD16, 3020, cuMemsetD16_v2)                              \
	SOFT_CUDA_DEFAULT(X, cuMemsetD32, 3020, cuMemsetD32_v2)                              \
	SOFT_CUDA_STREAM(X, cuMemsetD8Async, 3020, cuMemsetD8Async)                          \
	SOFT_CUDA_STREAM(X, cuMemsetD16Async, 3020, cuMemsetD16Async)                        \
	SOFT_CUDA_STREAM(X, cuMemsetD32Async, 3020, cuMemsetD32Async)                        \
	SOFT_CUDA_PLAIN(X, cuModuleLoad, 2000, cuModuleLoad)                                 \
	SOFT_CUDA_PLAIN(X, cuModuleLoadData, 2000, cuModuleLoadData)                         \
	SOFT_CUDA_PLAIN(X, cuModuleLoadDataEx, 2010, cuModuleLoadDataEx)                     \
	SOFT_CUDA_PLAIN(X, cuModuleUnload, 2000, cuModuleUnload)                             \
	SOFT_CUDA_PLAIN(X, cuModuleGetFunction, 2000, cuModuleGetFunction)                   \
	SOFT_CUDA_PLAIN(X, cuModuleGetGlobal, 3020, cuModuleGetGlobal_v2)                    \
	SOFT_CUDA_PLAIN(X, cuFuncGetAttribute, 2020, cuFuncGetAttribute)                     \
	SOFT_CUDA_PLAIN(X, cuFuncSetAttribute, 9000, cuFuncSetAttribute)                     \
	SOFT_CUDA_PLAIN(X, cuFuncGetName, 12030, cuFuncGetName)                              \
	SOFT_CUDA_PLAIN(X, cuFuncGetModule, 11000, cuFuncGetModule)                          \
	SOFT_CUDA_STREAM(X, cuLaunchKernel, 4000, cuLaunchKernel)                            \
	SOFT_CUDA_STREAM(X, cuLaunchKernelEx, 11060, cuLaunchKernelEx)

#endif
