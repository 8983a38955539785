/* SPDX-License-Identifier: MIT */
/* Functions that cuGetProcAddress() returns: X(requested name, release that introduced this form,
 * symbol, symbol for programs that use the thread's default stream, or the same symbol again).
 * Forms of one name are adjacent, the newest first. NEEDSWORK: cuCtxCreate_v4, cuCtxGetDevice_v2,
 * cuCtxSynchronize_v2 and cuEventElapsedTime_v2 are exported but not returned. */
#ifndef SOFT_CUDA_FUNCTIONS_H
#define SOFT_CUDA_FUNCTIONS_H

#define SOFT_CUDA_PLAIN(X, name, release, symbol)   X(name, release, symbol, symbol)
#define SOFT_CUDA_STREAM(X, name, release, symbol)  X(name, release, symbol, symbol##_ptsz)
#define SOFT_CUDA_DEFAULT(X, name, release, symbol) X(name, release, symbol, symbol##_ptds)

#define SOFT_CUDA_FUNCTIONS(X)                                                                    \
	SOFT_CUDA_PLAIN(X, cuInit, 2000, cuInit)                                                  \
	SOFT_CUDA_PLAIN(X, cuDriverGetVersion, 2020, cuDriverGetVersion)                          \
	SOFT_CUDA_PLAIN(X, cuGetErrorName, 6000, cuGetErrorName)                                  \
	SOFT_CUDA_PLAIN(X, cuGetErrorString, 6000, cuGetErrorString)                              \
	SOFT_CUDA_PLAIN(X, cuGetExportTable, 3000, cuGetExportTable)                              \
	SOFT_CUDA_PLAIN(X, cuGetProcAddress, 12000, cuGetProcAddress_v2)                          \
	SOFT_CUDA_PLAIN(X, cuGetProcAddress, 11030, cuGetProcAddress)                             \
	SOFT_CUDA_PLAIN(X, cuDeviceGet, 2000, cuDeviceGet)                                        \
	SOFT_CUDA_PLAIN(X, cuDeviceGetCount, 2000, cuDeviceGetCount)                              \
	SOFT_CUDA_PLAIN(X, cuDeviceGetName, 2000, cuDeviceGetName)                                \
	SOFT_CUDA_PLAIN(X, cuDeviceGetUuid, 11040, cuDeviceGetUuid_v2)                            \
	SOFT_CUDA_PLAIN(X, cuDeviceGetUuid, 9020, cuDeviceGetUuid)                                \
	SOFT_CUDA_PLAIN(X, cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2)                           \
	SOFT_CUDA_PLAIN(X, cuDeviceGetAttribute, 2000, cuDeviceGetAttribute)                      \
	SOFT_CUDA_PLAIN(X, cuDeviceComputeCapability, 2000, cuDeviceComputeCapability)            \
	SOFT_CUDA_PLAIN(X, cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain)              \
	SOFT_CUDA_PLAIN(X, cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2)        \
	SOFT_CUDA_PLAIN(X, cuDevicePrimaryCtxReset, 11000, cuDevicePrimaryCtxReset_v2)            \
	SOFT_CUDA_PLAIN(X, cuDevicePrimaryCtxGetState, 7000, cuDevicePrimaryCtxGetState)          \
	SOFT_CUDA_PLAIN(X, cuDevicePrimaryCtxSetFlags, 11000, cuDevicePrimaryCtxSetFlags_v2)      \
	SOFT_CUDA_PLAIN(X, cuCtxCreate, 3020, cuCtxCreate_v2)                                     \
	SOFT_CUDA_PLAIN(X, cuCtxDestroy, 4000, cuCtxDestroy_v2)                                   \
	SOFT_CUDA_PLAIN(X, cuCtxPushCurrent, 4000, cuCtxPushCurrent_v2)                           \
	SOFT_CUDA_PLAIN(X, cuCtxPopCurrent, 4000, cuCtxPopCurrent_v2)                             \
	SOFT_CUDA_PLAIN(X, cuCtxSetCurrent, 4000, cuCtxSetCurrent)                                \
	SOFT_CUDA_PLAIN(X, cuCtxGetCurrent, 4000, cuCtxGetCurrent)                                \
	SOFT_CUDA_PLAIN(X, cuCtxGetDevice, 2000, cuCtxGetDevice)                                  \
	SOFT_CUDA_PLAIN(X, cuCtxGetFlags, 7000, cuCtxGetFlags)                                    \
	SOFT_CUDA_PLAIN(X, cuCtxGetApiVersion, 3020, cuCtxGetApiVersion)                          \
	SOFT_CUDA_PLAIN(X, cuCtxGetStreamPriorityRange, 5050, cuCtxGetStreamPriorityRange)        \
	SOFT_CUDA_PLAIN(X, cuCtxSynchronize, 2000, cuCtxSynchronize)                              \
	SOFT_CUDA_PLAIN(X, cuStreamCreate, 2000, cuStreamCreate)                                  \
	SOFT_CUDA_PLAIN(X, cuStreamCreateWithPriority, 5050, cuStreamCreateWithPriority)          \
	SOFT_CUDA_PLAIN(X, cuStreamDestroy, 4000, cuStreamDestroy_v2)                             \
	SOFT_CUDA_STREAM(X, cuStreamSynchronize, 2000, cuStreamSynchronize)                       \
	SOFT_CUDA_STREAM(X, cuStreamQuery, 2000, cuStreamQuery)                                   \
	SOFT_CUDA_STREAM(X, cuStreamWaitEvent, 3020, cuStreamWaitEvent)                           \
	SOFT_CUDA_STREAM(X, cuStreamAddCallback, 5000, cuStreamAddCallback)                       \
	SOFT_CUDA_STREAM(X, cuStreamGetFlags, 5050, cuStreamGetFlags)                             \
	SOFT_CUDA_STREAM(X, cuStreamGetPriority, 5050, cuStreamGetPriority)                       \
	SOFT_CUDA_STREAM(X, cuStreamGetCtx, 9020, cuStreamGetCtx)                                 \
	SOFT_CUDA_STREAM(X, cuLaunchHostFunc, 10000, cuLaunchHostFunc)                            \
	SOFT_CUDA_PLAIN(X, cuEventCreate, 2000, cuEventCreate)                                    \
	SOFT_CUDA_PLAIN(X, cuEventDestroy, 4000, cuEventDestroy_v2)                               \
	SOFT_CUDA_STREAM(X, cuEventRecord, 2000, cuEventRecord)                                   \
	SOFT_CUDA_PLAIN(X, cuEventQuery, 2000, cuEventQuery)                                      \
	SOFT_CUDA_PLAIN(X, cuEventSynchronize, 2000, cuEventSynchronize)                          \
	SOFT_CUDA_PLAIN(X, cuEventElapsedTime, 2000, cuEventElapsedTime)                          \
	SOFT_CUDA_PLAIN(X, cuMemGetInfo, 3020, cuMemGetInfo_v2)                                   \
	SOFT_CUDA_PLAIN(X, cuMemAlloc, 3020, cuMemAlloc_v2)                                       \
	SOFT_CUDA_PLAIN(X, cuMemAllocPitch, 3020, cuMemAllocPitch_v2)                             \
	SOFT_CUDA_PLAIN(X, cuMemAllocManaged, 6000, cuMemAllocManaged)                            \
	SOFT_CUDA_PLAIN(X, cuMemFree, 3020, cuMemFree_v2)                                         \
	SOFT_CUDA_PLAIN(X, cuMemAllocHost, 3020, cuMemAllocHost_v2)                               \
	SOFT_CUDA_PLAIN(X, cuMemHostAlloc, 2020, cuMemHostAlloc)                                  \
	SOFT_CUDA_PLAIN(X, cuMemFreeHost, 2000, cuMemFreeHost)                                    \
	SOFT_CUDA_PLAIN(X, cuMemHostGetDevicePointer, 3020, cuMemHostGetDevicePointer_v2)         \
	SOFT_CUDA_PLAIN(X, cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2)                   \
	SOFT_CUDA_STREAM(X, cuMemAllocAsync, 11020, cuMemAllocAsync)                              \
	SOFT_CUDA_STREAM(X, cuMemFreeAsync, 11020, cuMemFreeAsync)                                \
	SOFT_CUDA_DEFAULT(X, cuMemcpy, 4000, cuMemcpy)                                            \
	SOFT_CUDA_DEFAULT(X, cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2)                                 \
	SOFT_CUDA_DEFAULT(X, cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2)                                 \
	SOFT_CUDA_DEFAULT(X, cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2)                                 \
	SOFT_CUDA_STREAM(X, cuMemcpyAsync, 4000, cuMemcpyAsync)                                   \
	SOFT_CUDA_STREAM(X, cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2)                        \
	SOFT_CUDA_STREAM(X, cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2)                        \
	SOFT_CUDA_STREAM(X, cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2)                        \
	SOFT_CUDA_DEFAULT(X, cuMemsetD8, 3020, cuMemsetD8_v2)                                     \
	SOFT_CUDA_DEFAULT(X, cuMemsetD16, 3020, cuMemsetD16_v2)                                   \
	SOFT_CUDA_DEFAULT(X, cuMemsetD32, 3020, cuMemsetD32_v2)                                   \
	SOFT_CUDA_STREAM(X, cuMemsetD8Async, 3020, cuMemsetD8Async)                               \
	SOFT_CUDA_STREAM(X, cuMemsetD16Async, 3020, cuMemsetD16Async)                             \
	SOFT_CUDA_STREAM(X, cuMemsetD32Async, 3020, cuMemsetD32Async)                             \
	SOFT_CUDA_PLAIN(X, cuModuleLoad, 2000, cuModuleLoad)                                      \
	SOFT_CUDA_PLAIN(X, cuModuleLoadData, 2000, cuModuleLoadData)                              \
	SOFT_CUDA_PLAIN(X, cuModuleLoadDataEx, 2010, cuModuleLoadDataEx)                          \
	SOFT_CUDA_PLAIN(X, cuModuleUnload, 2000, cuModuleUnload)                                  \
	SOFT_CUDA_PLAIN(X, cuModuleGetFunction, 2000, cuModuleGetFunction)                        \
	SOFT_CUDA_PLAIN(X, cuModuleGetGlobal, 3020, cuModuleGetGlobal_v2)                         \
	SOFT_CUDA_PLAIN(X, cuFuncGetAttribute, 2020, cuFuncGetAttribute)                          \
	SOFT_CUDA_PLAIN(X, cuFuncSetAttribute, 9000, cuFuncSetAttribute)                          \
	SOFT_CUDA_PLAIN(X, cuFuncGetName, 12030, cuFuncGetName)                                   \
	SOFT_CUDA_PLAIN(X, cuFuncGetModule, 11000, cuFuncGetModule)                               \
	SOFT_CUDA_STREAM(X, cuLaunchKernel, 4000, cuLaunchKernel)                                 \
	SOFT_CUDA_STREAM(X, cuLaunchKernelEx, 11060, cuLaunchKernelEx)                            \
	SOFT_CUDA_PLAIN(X, cuGraphCreate, 10000, cuGraphCreate)                                   \
	SOFT_CUDA_PLAIN(X, cuGraphDestroy, 10000, cuGraphDestroy)                                 \
	SOFT_CUDA_PLAIN(X, cuGraphDestroyNode, 10000, cuGraphDestroyNode)                         \
	SOFT_CUDA_PLAIN(X, cuGraphClone, 10000, cuGraphClone)                                     \
	SOFT_CUDA_PLAIN(X, cuGraphNodeFindInClone, 10000, cuGraphNodeFindInClone)                 \
	SOFT_CUDA_PLAIN(X, cuGraphAddKernelNode, 12000, cuGraphAddKernelNode_v2)                  \
	SOFT_CUDA_PLAIN(X, cuGraphAddKernelNode, 10000, cuGraphAddKernelNode)                     \
	SOFT_CUDA_PLAIN(X, cuGraphAddMemcpyNode, 10000, cuGraphAddMemcpyNode)                     \
	SOFT_CUDA_PLAIN(X, cuGraphAddMemsetNode, 10000, cuGraphAddMemsetNode)                     \
	SOFT_CUDA_PLAIN(X, cuGraphAddHostNode, 10000, cuGraphAddHostNode)                         \
	SOFT_CUDA_PLAIN(X, cuGraphAddEmptyNode, 10000, cuGraphAddEmptyNode)                       \
	SOFT_CUDA_PLAIN(X, cuGraphAddChildGraphNode, 10000, cuGraphAddChildGraphNode)             \
	SOFT_CUDA_PLAIN(X, cuGraphAddEventRecordNode, 11010, cuGraphAddEventRecordNode)           \
	SOFT_CUDA_PLAIN(X, cuGraphAddEventWaitNode, 11010, cuGraphAddEventWaitNode)               \
	SOFT_CUDA_PLAIN(X, cuGraphAddDependencies, 12030, cuGraphAddDependencies_v2)              \
	SOFT_CUDA_PLAIN(X, cuGraphAddDependencies, 10000, cuGraphAddDependencies)                 \
	SOFT_CUDA_PLAIN(X, cuGraphRemoveDependencies, 10000, cuGraphRemoveDependencies)           \
	SOFT_CUDA_PLAIN(X, cuGraphGetNodes, 10000, cuGraphGetNodes)                               \
	SOFT_CUDA_PLAIN(X, cuGraphGetRootNodes, 10000, cuGraphGetRootNodes)                       \
	SOFT_CUDA_PLAIN(X, cuGraphGetEdges, 12030, cuGraphGetEdges_v2)                            \
	SOFT_CUDA_PLAIN(X, cuGraphGetEdges, 10000, cuGraphGetEdges)                               \
	SOFT_CUDA_PLAIN(X, cuGraphNodeGetType, 10000, cuGraphNodeGetType)                         \
	SOFT_CUDA_PLAIN(X, cuGraphChildGraphNodeGetGraph, 10000, cuGraphChildGraphNodeGetGraph)   \
	SOFT_CUDA_PLAIN(X, cuGraphKernelNodeSetParams, 12000, cuGraphKernelNodeSetParams_v2)      \
	SOFT_CUDA_PLAIN(X, cuGraphInstantiate, 11000, cuGraphInstantiate_v2)                      \
	SOFT_CUDA_PLAIN(X, cuGraphInstantiate, 10000, cuGraphInstantiate)                         \
	SOFT_CUDA_PLAIN(X, cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags)       \
	SOFT_CUDA_STREAM(X, cuGraphInstantiateWithParams, 12000, cuGraphInstantiateWithParams)    \
	SOFT_CUDA_STREAM(X, cuGraphLaunch, 10000, cuGraphLaunch)                                  \
	SOFT_CUDA_STREAM(X, cuGraphUpload, 11010, cuGraphUpload)                                  \
	SOFT_CUDA_PLAIN(X, cuGraphExecUpdate, 12000, cuGraphExecUpdate_v2)                        \
	SOFT_CUDA_PLAIN(X, cuGraphExecUpdate, 10020, cuGraphExecUpdate)                           \
	SOFT_CUDA_PLAIN(X, cuGraphExecKernelNodeSetParams, 12000,                                 \
			cuGraphExecKernelNodeSetParams_v2)                                        \
	SOFT_CUDA_PLAIN(X, cuGraphExecKernelNodeSetParams, 10010, cuGraphExecKernelNodeSetParams) \
	SOFT_CUDA_PLAIN(X, cuGraphNodeSetEnabled, 11060, cuGraphNodeSetEnabled)                   \
	SOFT_CUDA_PLAIN(X, cuGraphNodeGetEnabled, 11060, cuGraphNodeGetEnabled)                   \
	SOFT_CUDA_PLAIN(X, cuGraphExecDestroy, 10000, cuGraphExecDestroy)                         \
	SOFT_CUDA_STREAM(X, cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2)                 \
	SOFT_CUDA_STREAM(X, cuStreamEndCapture, 10000, cuStreamEndCapture)                        \
	SOFT_CUDA_STREAM(X, cuStreamIsCapturing, 10000, cuStreamIsCapturing)                      \
	SOFT_CUDA_STREAM(X, cuStreamGetCaptureInfo, 12030, cuStreamGetCaptureInfo_v3)             \
	SOFT_CUDA_STREAM(X, cuStreamGetCaptureInfo, 11030, cuStreamGetCaptureInfo_v2)             \
	SOFT_CUDA_PLAIN(X, cuThreadExchangeStreamCaptureMode, 10010,                              \
			cuThreadExchangeStreamCaptureMode)                                        \
	SOFT_CUDA_PLAIN(X, cuLibraryLoadData, 12000, cuLibraryLoadData)                           \
	SOFT_CUDA_PLAIN(X, cuLibraryLoadFromFile, 12000, cuLibraryLoadFromFile)                   \
	SOFT_CUDA_PLAIN(X, cuLibraryUnload, 12000, cuLibraryUnload)                               \
	SOFT_CUDA_PLAIN(X, cuLibraryGetKernel, 12000, cuLibraryGetKernel)                         \
	SOFT_CUDA_PLAIN(X, cuLibraryGetModule, 12000, cuLibraryGetModule)                         \
	SOFT_CUDA_PLAIN(X, cuLibraryGetGlobal, 12000, cuLibraryGetGlobal)                         \
	SOFT_CUDA_PLAIN(X, cuKernelGetFunction, 12000, cuKernelGetFunction)                       \
	SOFT_CUDA_PLAIN(X, cuKernelGetAttribute, 12000, cuKernelGetAttribute)                     \
	SOFT_CUDA_PLAIN(X, cuKernelSetAttribute, 12000, cuKernelSetAttribute)                     \
	SOFT_CUDA_PLAIN(X, cuKernelGetName, 12030, cuKernelGetName)                               \
	SOFT_CUDA_PLAIN(X, cuKernelGetLibrary, 12050, cuKernelGetLibrary)                         \
	SOFT_CUDA_PLAIN(X, cuModuleGetLoadingMode, 11070, cuModuleGetLoadingMode)                 \
	SOFT_CUDA_PLAIN(X, cuFuncSetCacheConfig, 3000, cuFuncSetCacheConfig)                      \
	SOFT_CUDA_PLAIN(X, cuFuncGetParamInfo, 12040, cuFuncGetParamInfo)                         \
	SOFT_CUDA_PLAIN(X, cuFuncIsLoaded, 12040, cuFuncIsLoaded)                                 \
	SOFT_CUDA_PLAIN(X, cuFuncLoad, 12040, cuFuncLoad)                                         \
	SOFT_CUDA_STREAM(X, cuLaunchCooperativeKernel, 9000, cuLaunchCooperativeKernel)           \
	SOFT_CUDA_PLAIN(X, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,                     \
			cuOccupancyMaxActiveBlocksPerMultiprocessor)                              \
	SOFT_CUDA_PLAIN(X, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000,            \
			cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)                     \
	SOFT_CUDA_PLAIN(X, cuOccupancyMaxPotentialBlockSize, 6050,                                \
			cuOccupancyMaxPotentialBlockSize)                                         \
	SOFT_CUDA_PLAIN(X, cuOccupancyMaxPotentialBlockSizeWithFlags, 7000,                       \
			cuOccupancyMaxPotentialBlockSizeWithFlags)                                \
	SOFT_CUDA_PLAIN(X, cuOccupancyAvailableDynamicSMemPerBlock, 10020,                        \
			cuOccupancyAvailableDynamicSMemPerBlock)                                  \
	SOFT_CUDA_PLAIN(X, cuMemPoolCreate, 11020, cuMemPoolCreate)                               \
	SOFT_CUDA_PLAIN(X, cuMemPoolDestroy, 11020, cuMemPoolDestroy)                             \
	SOFT_CUDA_PLAIN(X, cuMemPoolTrimTo, 11020, cuMemPoolTrimTo)                               \
	SOFT_CUDA_PLAIN(X, cuMemPoolSetAttribute, 11020, cuMemPoolSetAttribute)                   \
	SOFT_CUDA_PLAIN(X, cuMemPoolGetAttribute, 11020, cuMemPoolGetAttribute)                   \
	SOFT_CUDA_PLAIN(X, cuMemPoolSetAccess, 11020, cuMemPoolSetAccess)                         \
	SOFT_CUDA_PLAIN(X, cuDeviceGetDefaultMemPool, 11020, cuDeviceGetDefaultMemPool)           \
	SOFT_CUDA_PLAIN(X, cuDeviceGetMemPool, 11020, cuDeviceGetMemPool)                         \
	SOFT_CUDA_PLAIN(X, cuDeviceSetMemPool, 11020, cuDeviceSetMemPool)                         \
	SOFT_CUDA_STREAM(X, cuMemAllocFromPoolAsync, 11020, cuMemAllocFromPoolAsync)              \
	SOFT_CUDA_STREAM(X, cuMemPrefetchAsync, 12020, cuMemPrefetchAsync_v2)                     \
	SOFT_CUDA_STREAM(X, cuMemPrefetchAsync, 8000, cuMemPrefetchAsync)                         \
	SOFT_CUDA_PLAIN(X, cuMemAdvise, 12020, cuMemAdvise_v2)                                    \
	SOFT_CUDA_PLAIN(X, cuMemAdvise, 8000, cuMemAdvise)                                        \
	SOFT_CUDA_DEFAULT(X, cuMemcpyPeer, 4000, cuMemcpyPeer)                                    \
	SOFT_CUDA_STREAM(X, cuMemcpyPeerAsync, 4000, cuMemcpyPeerAsync)                           \
	SOFT_CUDA_PLAIN(X, cuDeviceCanAccessPeer, 4000, cuDeviceCanAccessPeer)                    \
	SOFT_CUDA_PLAIN(X, cuDeviceGetP2PAttribute, 8000, cuDeviceGetP2PAttribute)                \
	SOFT_CUDA_PLAIN(X, cuCtxEnablePeerAccess, 4000, cuCtxEnablePeerAccess)                    \
	SOFT_CUDA_PLAIN(X, cuCtxDisablePeerAccess, 4000, cuCtxDisablePeerAccess)                  \
	SOFT_CUDA_DEFAULT(X, cuMemcpy2D, 3020, cuMemcpy2D_v2)                                     \
	SOFT_CUDA_STREAM(X, cuMemcpy2DAsync, 3020, cuMemcpy2DAsync_v2)                            \
	SOFT_CUDA_DEFAULT(X, cuMemcpy3D, 3020, cuMemcpy3D_v2)                                     \
	SOFT_CUDA_STREAM(X, cuMemcpy3DAsync, 3020, cuMemcpy3DAsync_v2)                            \
	SOFT_CUDA_PLAIN(X, cuPointerGetAttribute, 4000, cuPointerGetAttribute)                    \
	SOFT_CUDA_PLAIN(X, cuPointerGetAttributes, 7000, cuPointerGetAttributes)                  \
	SOFT_CUDA_PLAIN(X, cuMemHostRegister, 6050, cuMemHostRegister_v2)                         \
	SOFT_CUDA_PLAIN(X, cuMemHostUnregister, 4000, cuMemHostUnregister)                        \
	SOFT_CUDA_PLAIN(X, cuMemHostGetFlags, 2030, cuMemHostGetFlags)                            \
	SOFT_CUDA_PLAIN(X, cuCtxGetLimit, 3010, cuCtxGetLimit)                                    \
	SOFT_CUDA_PLAIN(X, cuCtxSetLimit, 3010, cuCtxSetLimit)                                    \
	SOFT_CUDA_PLAIN(X, cuCtxGetCacheConfig, 3020, cuCtxGetCacheConfig)                        \
	SOFT_CUDA_PLAIN(X, cuCtxSetCacheConfig, 3020, cuCtxSetCacheConfig)                        \
	SOFT_CUDA_PLAIN(X, cuCtxGetId, 12000, cuCtxGetId)                                         \
	SOFT_CUDA_STREAM(X, cuStreamGetId, 12000, cuStreamGetId)                                  \
	SOFT_CUDA_STREAM(X, cuStreamGetDevice, 12080, cuStreamGetDevice)                          \
	SOFT_CUDA_STREAM(X, cuEventRecordWithFlags, 11010, cuEventRecordWithFlags)                \
	SOFT_CUDA_PLAIN(X, cuDeviceGetPCIBusId, 4010, cuDeviceGetPCIBusId)                        \
	SOFT_CUDA_PLAIN(X, cuDeviceGetByPCIBusId, 4010, cuDeviceGetByPCIBusId)                    \
	SOFT_CUDA_PLAIN(X, cuProfilerStart, 4000, cuProfilerStart)                                \
	SOFT_CUDA_PLAIN(X, cuProfilerStop, 4000, cuProfilerStop)                                  \
	SOFT_CUDA_PLAIN(X, cuGraphNodeGetDependencies, 12030, cuGraphNodeGetDependencies_v2)      \
	SOFT_CUDA_PLAIN(X, cuGraphNodeGetDependencies, 10000, cuGraphNodeGetDependencies)         \
	SOFT_CUDA_PLAIN(X, cuGraphNodeGetDependentNodes, 12030, cuGraphNodeGetDependentNodes_v2)  \
	SOFT_CUDA_PLAIN(X, cuGraphNodeGetDependentNodes, 10000, cuGraphNodeGetDependentNodes)     \
	SOFT_CUDA_PLAIN(X, cuGraphKernelNodeGetParams, 12000, cuGraphKernelNodeGetParams_v2)      \
	SOFT_CUDA_DEFAULT(X, cuMemsetD2D8, 3020, cuMemsetD2D8_v2)                                 \
	SOFT_CUDA_STREAM(X, cuMemsetD2D8Async, 3020, cuMemsetD2D8Async)                           \
	SOFT_CUDA_DEFAULT(X, cuMemsetD2D16, 3020, cuMemsetD2D16_v2)                               \
	SOFT_CUDA_STREAM(X, cuMemsetD2D16Async, 3020, cuMemsetD2D16Async)                         \
	SOFT_CUDA_DEFAULT(X, cuMemsetD2D32, 3020, cuMemsetD2D32_v2)                               \
	SOFT_CUDA_STREAM(X, cuMemsetD2D32Async, 3020, cuMemsetD2D32Async)

#endif
