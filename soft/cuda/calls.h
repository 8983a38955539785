/* SPDX-License-Identifier: MIT */
/* The exports of libcuda.so.1, one per line: X(name, (type, parameter) ...) for most functions,
 * V(name) for functions without parameters, B(name, suffix, (type, parameter) ...) for functions
 * with a second form for the thread's default stream. This list generates the prototypes
 * (cuda_api.h), the exported functions and the notifications of a tool (calls.c). soft_<name>()
 * implements each function. */
#ifndef SOFT_CUDA_CALLS_H
#define SOFT_CUDA_CALLS_H

/* Convert (type, parameter) to a declaration, to a member of a struct, or to the parameter
 * alone. */
#define SOFT_CUDA_DECLARE(type, name) type name
#define SOFT_CUDA_MEMBER(type, name)  type name;
#define SOFT_CUDA_NAME(type, name)    name

/* SOFT_CUDA_LIST(DECLARE or NAME, pairs) separates the results with commas; SOFT_CUDA_EACH(MEMBER,
 * pairs) does not. */
#define SOFT_CUDA_LIST_1(f, p1)                         f p1
#define SOFT_CUDA_LIST_2(f, p1, p2)                     f p1, f p2
#define SOFT_CUDA_LIST_3(f, p1, p2, p3)                 f p1, f p2, f p3
#define SOFT_CUDA_LIST_4(f, p1, p2, p3, p4)             f p1, f p2, f p3, f p4
#define SOFT_CUDA_LIST_5(f, p1, p2, p3, p4, p5)         f p1, f p2, f p3, f p4, f p5
#define SOFT_CUDA_LIST_6(f, p1, p2, p3, p4, p5, p6)     f p1, f p2, f p3, f p4, f p5, f p6
#define SOFT_CUDA_LIST_7(f, p1, p2, p3, p4, p5, p6, p7) f p1, f p2, f p3, f p4, f p5, f p6, f p7
#define SOFT_CUDA_LIST_8(f, p1, p2, p3, p4, p5, p6, p7, p8) \
	f p1, f p2, f p3, f p4, f p5, f p6, f p7, f p8
#define SOFT_CUDA_LIST_9(f, p1, p2, p3, p4, p5, p6, p7, p8, p9) \
	f p1, f p2, f p3, f p4, f p5, f p6, f p7, f p8, f p9
#define SOFT_CUDA_LIST_10(f, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10) \
	f p1, f p2, f p3, f p4, f p5, f p6, f p7, f p8, f p9, f p10
#define SOFT_CUDA_LIST_11(f, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11) \
	f p1, f p2, f p3, f p4, f p5, f p6, f p7, f p8, f p9, f p10, f p11
#define SOFT_CUDA_LIST_12(f, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12) \
	f p1, f p2, f p3, f p4, f p5, f p6, f p7, f p8, f p9, f p10, f p11, f p12
#define SOFT_CUDA_LIST_13(f, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13) \
	f p1, f p2, f p3, f p4, f p5, f p6, f p7, f p8, f p9, f p10, f p11, f p12, f p13
#define SOFT_CUDA_LIST_14(f, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14) \
	f p1, f p2, f p3, f p4, f p5, f p6, f p7, f p8, f p9, f p10, f p11, f p12, f p13, f p14
#define SOFT_CUDA_EACH_1(f, p1)                             f p1
#define SOFT_CUDA_EACH_2(f, p1, p2)                         f p1 f p2
#define SOFT_CUDA_EACH_3(f, p1, p2, p3)                     f p1 f p2 f p3
#define SOFT_CUDA_EACH_4(f, p1, p2, p3, p4)                 f p1 f p2 f p3 f p4
#define SOFT_CUDA_EACH_5(f, p1, p2, p3, p4, p5)             f p1 f p2 f p3 f p4 f p5
#define SOFT_CUDA_EACH_6(f, p1, p2, p3, p4, p5, p6)         f p1 f p2 f p3 f p4 f p5 f p6
#define SOFT_CUDA_EACH_7(f, p1, p2, p3, p4, p5, p6, p7)     f p1 f p2 f p3 f p4 f p5 f p6 f p7
#define SOFT_CUDA_EACH_8(f, p1, p2, p3, p4, p5, p6, p7, p8) f p1 f p2 f p3 f p4 f p5 f p6 f p7 f p8
#define SOFT_CUDA_EACH_9(f, p1, p2, p3, p4, p5, p6, p7, p8, p9) \
	f p1 f p2 f p3 f p4 f p5 f p6 f p7 f p8 f p9
#define SOFT_CUDA_EACH_10(f, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10) \
	f p1 f p2 f p3 f p4 f p5 f p6 f p7 f p8 f p9 f p10
#define SOFT_CUDA_EACH_11(f, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11) \
	f p1 f p2 f p3 f p4 f p5 f p6 f p7 f p8 f p9 f p10 f p11
#define SOFT_CUDA_EACH_12(f, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12) \
	f p1 f p2 f p3 f p4 f p5 f p6 f p7 f p8 f p9 f p10 f p11 f p12
#define SOFT_CUDA_EACH_13(f, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13) \
	f p1 f p2 f p3 f p4 f p5 f p6 f p7 f p8 f p9 f p10 f p11 f p12 f p13
#define SOFT_CUDA_EACH_14(f, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14) \
	f p1 f p2 f p3 f p4 f p5 f p6 f p7 f p8 f p9 f p10 f p11 f p12 f p13 f p14
#define SOFT_CUDA_COUNT_(p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, count, ...) \
	count
#define SOFT_CUDA_COUNT(...) \
	SOFT_CUDA_COUNT_(__VA_ARGS__, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SOFT_CUDA_JOIN_(a, b) a##b
#define SOFT_CUDA_JOIN(a, b)  SOFT_CUDA_JOIN_(a, b)
#define SOFT_CUDA_LIST(what, ...) \
	SOFT_CUDA_JOIN(SOFT_CUDA_LIST_, SOFT_CUDA_COUNT(__VA_ARGS__))(SOFT_CUDA_##what, __VA_ARGS__)
#define SOFT_CUDA_EACH(what, ...) \
	SOFT_CUDA_JOIN(SOFT_CUDA_EACH_, SOFT_CUDA_COUNT(__VA_ARGS__))(SOFT_CUDA_##what, __VA_ARGS__)

#define SOFT_CUDA_CALLS(X, B, V)                                                                   \
	X(cuInit, (unsigned int, flags))                                                           \
	X(cuDriverGetVersion, (int *, version))                                                    \
	X(cuGetErrorName, (int, error), (const char **, name))                                     \
	X(cuGetErrorString, (int, error), (const char **, text))                                   \
	X(cuGetExportTable, (const void **, table), (const CUuuid *, id))                          \
	X(cuGetProcAddress, (const char *, symbol), (void **, function), (int, version),           \
	  (uint64_t, flags))                                                                       \
	X(cuGetProcAddress_v2, (const char *, symbol), (void **, function), (int, version),        \
	  (uint64_t, flags), (unsigned int *, status))                                             \
	X(cuDeviceGet, (CUdevice *, device), (int, ordinal))                                       \
	X(cuDeviceGetCount, (int *, count))                                                        \
	X(cuDeviceGetName, (char *, name), (int, length), (CUdevice, device))                      \
	X(cuDeviceGetUuid, (CUuuid *, uuid), (CUdevice, device))                                   \
	X(cuDeviceGetUuid_v2, (CUuuid *, uuid), (CUdevice, device))                                \
	X(cuDeviceTotalMem_v2, (size_t *, bytes), (CUdevice, device))                              \
	X(cuDeviceGetAttribute, (int *, value), (unsigned int, attribute), (CUdevice, device))     \
	X(cuDeviceComputeCapability, (int *, major), (int *, minor), (CUdevice, device))           \
	X(cuDevicePrimaryCtxRetain, (CUcontext *, context), (CUdevice, device))                    \
	X(cuDevicePrimaryCtxRelease_v2, (CUdevice, device))                                        \
	X(cuDevicePrimaryCtxReset_v2, (CUdevice, device))                                          \
	X(cuDevicePrimaryCtxGetState, (CUdevice, device), (unsigned int *, flags),                 \
	  (int *, active))                                                                         \
	X(cuDevicePrimaryCtxSetFlags_v2, (CUdevice, device), (unsigned int, flags))                \
	X(cuCtxCreate_v2, (CUcontext *, context), (unsigned int, flags), (CUdevice, device))       \
	X(cuCtxDestroy_v2, (CUcontext, context))                                                   \
	X(cuCtxPushCurrent_v2, (CUcontext, context))                                               \
	X(cuCtxPopCurrent_v2, (CUcontext *, context))                                              \
	X(cuCtxSetCurrent, (CUcontext, context))                                                   \
	X(cuCtxGetCurrent, (CUcontext *, context))                                                 \
	X(cuCtxGetDevice, (CUdevice *, device))                                                    \
	X(cuCtxGetFlags, (unsigned int *, flags))                                                  \
	X(cuCtxGetApiVersion, (CUcontext, context), (unsigned int *, version))                     \
	X(cuCtxGetStreamPriorityRange, (int *, least), (int *, greatest))                          \
	V(cuCtxSynchronize)                                                                        \
	X(cuStreamCreate, (CUstream *, stream), (unsigned int, flags))                             \
	X(cuStreamCreateWithPriority, (CUstream *, stream), (unsigned int, flags),                 \
	  (int, priority))                                                                         \
	X(cuStreamDestroy_v2, (CUstream, stream))                                                  \
	B(cuStreamSynchronize, _ptsz, (CUstream, stream))                                          \
	B(cuStreamQuery, _ptsz, (CUstream, stream))                                                \
	B(cuStreamWaitEvent, _ptsz, (CUstream, stream), (CUevent, event), (unsigned int, flags))   \
	B(cuStreamAddCallback, _ptsz, (CUstream, stream), (CUstreamCallback *, callback),          \
	  (void *, data), (unsigned int, flags))                                                   \
	B(cuStreamGetFlags, _ptsz, (CUstream, stream), (unsigned int *, flags))                    \
	B(cuStreamGetPriority, _ptsz, (CUstream, stream), (int *, priority))                       \
	B(cuStreamGetCtx, _ptsz, (CUstream, stream), (CUcontext *, context))                       \
	B(cuLaunchHostFunc, _ptsz, (CUstream, stream), (CUhostFn *, function), (void *, data))     \
	X(cuEventCreate, (CUevent *, event), (unsigned int, flags))                                \
	X(cuEventDestroy_v2, (CUevent, event))                                                     \
	B(cuEventRecord, _ptsz, (CUevent, event), (CUstream, stream))                              \
	X(cuEventQuery, (CUevent, event))                                                          \
	X(cuEventSynchronize, (CUevent, event))                                                    \
	X(cuEventElapsedTime, (float *, milliseconds), (CUevent, start), (CUevent, end))           \
	X(cuMemGetInfo_v2, (size_t *, available), (size_t *, total))                               \
	X(cuMemAlloc_v2, (CUdeviceptr *, address), (size_t, bytes))                                \
	X(cuMemAllocPitch_v2, (CUdeviceptr *, address), (size_t *, pitch), (size_t, width),        \
	  (size_t, height), (unsigned int, element))                                               \
	X(cuMemAllocManaged, (CUdeviceptr *, address), (size_t, bytes), (unsigned int, flags))     \
	X(cuMemFree_v2, (CUdeviceptr, address))                                                    \
	X(cuMemAllocHost_v2, (void **, address), (size_t, bytes))                                  \
	X(cuMemHostAlloc, (void **, address), (size_t, bytes), (unsigned int, flags))              \
	X(cuMemFreeHost, (void *, address))                                                        \
	X(cuMemHostGetDevicePointer_v2, (CUdeviceptr *, device), (void *, host),                   \
	  (unsigned int, flags))                                                                   \
	X(cuMemGetAddressRange_v2, (CUdeviceptr *, base), (size_t *, bytes),                       \
	  (CUdeviceptr, address))                                                                  \
	B(cuMemAllocAsync, _ptsz, (CUdeviceptr *, address), (size_t, bytes), (CUstream, stream))   \
	B(cuMemFreeAsync, _ptsz, (CUdeviceptr, address), (CUstream, stream))                       \
	B(cuMemcpy, _ptds, (CUdeviceptr, to), (CUdeviceptr, from), (size_t, bytes))                \
	B(cuMemcpyHtoD_v2, _ptds, (CUdeviceptr, to), (const void *, from), (size_t, bytes))        \
	B(cuMemcpyDtoH_v2, _ptds, (void *, to), (CUdeviceptr, from), (size_t, bytes))              \
	B(cuMemcpyDtoD_v2, _ptds, (CUdeviceptr, to), (CUdeviceptr, from), (size_t, bytes))         \
	B(cuMemcpyAsync, _ptsz, (CUdeviceptr, to), (CUdeviceptr, from), (size_t, bytes),           \
	  (CUstream, stream))                                                                      \
	B(cuMemcpyHtoDAsync_v2, _ptsz, (CUdeviceptr, to), (const void *, from), (size_t, bytes),   \
	  (CUstream, stream))                                                                      \
	B(cuMemcpyDtoHAsync_v2, _ptsz, (void *, to), (CUdeviceptr, from), (size_t, bytes),         \
	  (CUstream, stream))                                                                      \
	B(cuMemcpyDtoDAsync_v2, _ptsz, (CUdeviceptr, to), (CUdeviceptr, from), (size_t, bytes),    \
	  (CUstream, stream))                                                                      \
	B(cuMemsetD8_v2, _ptds, (CUdeviceptr, to), (unsigned char, value), (size_t, count))        \
	B(cuMemsetD16_v2, _ptds, (CUdeviceptr, to), (unsigned short, value), (size_t, count))      \
	B(cuMemsetD32_v2, _ptds, (CUdeviceptr, to), (unsigned int, value), (size_t, count))        \
	B(cuMemsetD8Async, _ptsz, (CUdeviceptr, to), (unsigned char, value), (size_t, count),      \
	  (CUstream, stream))                                                                      \
	B(cuMemsetD16Async, _ptsz, (CUdeviceptr, to), (unsigned short, value), (size_t, count),    \
	  (CUstream, stream))                                                                      \
	B(cuMemsetD32Async, _ptsz, (CUdeviceptr, to), (unsigned int, value), (size_t, count),      \
	  (CUstream, stream))                                                                      \
	X(cuModuleLoad, (CUmodule *, module), (const char *, file))                                \
	X(cuModuleLoadData, (CUmodule *, module), (const void *, image))                           \
	X(cuModuleLoadDataEx, (CUmodule *, module), (const void *, image), (unsigned int, count),  \
	  (unsigned int *, options), (void **, values))                                            \
	X(cuModuleUnload, (CUmodule, module))                                                      \
	X(cuModuleGetFunction, (CUfunction *, function), (CUmodule, module), (const char *, name)) \
	X(cuModuleGetGlobal_v2, (CUdeviceptr *, address), (size_t *, bytes), (CUmodule, module),   \
	  (const char *, name))                                                                    \
	X(cuFuncGetAttribute, (int *, value), (unsigned int, attribute), (CUfunction, function))   \
	X(cuFuncSetAttribute, (CUfunction, function), (unsigned int, attribute), (int, value))     \
	X(cuFuncGetName, (const char **, name), (CUfunction, function))                            \
	X(cuFuncGetModule, (CUmodule *, module), (CUfunction, function))                           \
	B(cuLaunchKernel, _ptsz, (CUfunction, function), (unsigned int, grid_x),                   \
	  (unsigned int, grid_y), (unsigned int, grid_z), (unsigned int, block_x),                 \
	  (unsigned int, block_y), (unsigned int, block_z), (unsigned int, shared),                \
	  (CUstream, stream), (void **, parameters), (void **, extra))                             \
	B(cuLaunchKernelEx, _ptsz, (const CUlaunchConfig *, config), (CUfunction, function),       \
	  (void **, parameters), (void **, extra))                                                 \
	X(cuGraphCreate, (CUgraph *, graph), (unsigned int, flags))                                \
	X(cuGraphDestroy, (CUgraph, graph))                                                        \
	X(cuGraphDestroyNode, (CUgraphNode, node))                                                 \
	X(cuGraphClone, (CUgraph *, clone), (CUgraph, original))                                   \
	X(cuGraphNodeFindInClone, (CUgraphNode *, node), (CUgraphNode, original),                  \
	  (CUgraph, clone))                                                                        \
	X(cuGraphAddKernelNode, (CUgraphNode *, node), (CUgraph, graph),                           \
	  (const CUgraphNode *, from), (size_t, count),                                            \
	  (const CUDA_KERNEL_NODE_PARAMS *, parameters))                                           \
	X(cuGraphAddKernelNode_v2, (CUgraphNode *, node), (CUgraph, graph),                        \
	  (const CUgraphNode *, from), (size_t, count),                                            \
	  (const CUDA_KERNEL_NODE_PARAMS *, parameters))                                           \
	X(cuGraphAddMemcpyNode, (CUgraphNode *, node), (CUgraph, graph),                           \
	  (const CUgraphNode *, from), (size_t, count), (const CUDA_MEMCPY3D *, copy),             \
	  (CUcontext, context))                                                                    \
	X(cuGraphAddMemsetNode, (CUgraphNode *, node), (CUgraph, graph),                           \
	  (const CUgraphNode *, from), (size_t, count), (const CUDA_MEMSET_NODE_PARAMS *, set),    \
	  (CUcontext, context))                                                                    \
	X(cuGraphAddHostNode, (CUgraphNode *, node), (CUgraph, graph),                             \
	  (const CUgraphNode *, from), (size_t, count), (const CUDA_HOST_NODE_PARAMS *, host))     \
	X(cuGraphAddEmptyNode, (CUgraphNode *, node), (CUgraph, graph),                            \
	  (const CUgraphNode *, from), (size_t, count))                                            \
	X(cuGraphAddChildGraphNode, (CUgraphNode *, node), (CUgraph, graph),                       \
	  (const CUgraphNode *, from), (size_t, count), (CUgraph, child))                          \
	X(cuGraphAddEventRecordNode, (CUgraphNode *, node), (CUgraph, graph),                      \
	  (const CUgraphNode *, from), (size_t, count), (CUevent, event))                          \
	X(cuGraphAddEventWaitNode, (CUgraphNode *, node), (CUgraph, graph),                        \
	  (const CUgraphNode *, from), (size_t, count), (CUevent, event))                          \
	X(cuGraphAddDependencies, (CUgraph, graph), (const CUgraphNode *, from),                   \
	  (const CUgraphNode *, to), (size_t, count))                                              \
	X(cuGraphAddDependencies_v2, (CUgraph, graph), (const CUgraphNode *, from),                \
	  (const CUgraphNode *, to), (const CUgraphEdgeData *, data), (size_t, count))             \
	X(cuGraphRemoveDependencies, (CUgraph, graph), (const CUgraphNode *, from),                \
	  (const CUgraphNode *, to), (size_t, count))                                              \
	X(cuGraphGetNodes, (CUgraph, graph), (CUgraphNode *, nodes), (size_t *, count))            \
	X(cuGraphGetRootNodes, (CUgraph, graph), (CUgraphNode *, nodes), (size_t *, count))        \
	X(cuGraphGetEdges, (CUgraph, graph), (CUgraphNode *, from), (CUgraphNode *, to),           \
	  (size_t *, count))                                                                       \
	X(cuGraphGetEdges_v2, (CUgraph, graph), (CUgraphNode *, from), (CUgraphNode *, to),        \
	  (CUgraphEdgeData *, data), (size_t *, count))                                            \
	X(cuGraphNodeGetType, (CUgraphNode, node), (int *, type))                                  \
	X(cuGraphChildGraphNodeGetGraph, (CUgraphNode, node), (CUgraph *, graph))                  \
	X(cuGraphKernelNodeSetParams_v2, (CUgraphNode, node),                                      \
	  (const CUDA_KERNEL_NODE_PARAMS *, parameters))                                           \
	X(cuGraphInstantiate, (CUgraphExec *, exec), (CUgraph, graph), (CUgraphNode *, error),     \
	  (char *, text), (size_t, bytes))                                                         \
	X(cuGraphInstantiate_v2, (CUgraphExec *, exec), (CUgraph, graph), (CUgraphNode *, error),  \
	  (char *, text), (size_t, bytes))                                                         \
	X(cuGraphInstantiateWithFlags, (CUgraphExec *, exec), (CUgraph, graph),                    \
	  (unsigned long long, flags))                                                             \
	B(cuGraphInstantiateWithParams, _ptsz, (CUgraphExec *, exec), (CUgraph, graph),            \
	  (CUDA_GRAPH_INSTANTIATE_PARAMS *, parameters))                                           \
	B(cuGraphLaunch, _ptsz, (CUgraphExec, exec), (CUstream, stream))                           \
	B(cuGraphUpload, _ptsz, (CUgraphExec, exec), (CUstream, stream))                           \
	X(cuGraphExecUpdate, (CUgraphExec, exec), (CUgraph, graph), (CUgraphNode *, error),        \
	  (int *, result))                                                                         \
	X(cuGraphExecUpdate_v2, (CUgraphExec, exec), (CUgraph, graph),                             \
	  (CUgraphExecUpdateResultInfo *, result))                                                 \
	X(cuGraphExecKernelNodeSetParams, (CUgraphExec, exec), (CUgraphNode, node),                \
	  (const CUDA_KERNEL_NODE_PARAMS *, parameters))                                           \
	X(cuGraphExecKernelNodeSetParams_v2, (CUgraphExec, exec), (CUgraphNode, node),             \
	  (const CUDA_KERNEL_NODE_PARAMS *, parameters))                                           \
	X(cuGraphNodeSetEnabled, (CUgraphExec, exec), (CUgraphNode, node),                         \
	  (unsigned int, enabled))                                                                 \
	X(cuGraphNodeGetEnabled, (CUgraphExec, exec), (CUgraphNode, node),                         \
	  (unsigned int *, enabled))                                                               \
	X(cuGraphExecDestroy, (CUgraphExec, exec))                                                 \
	B(cuStreamBeginCapture_v2, _ptsz, (CUstream, stream), (int, mode))                         \
	B(cuStreamEndCapture, _ptsz, (CUstream, stream), (CUgraph *, graph))                       \
	B(cuStreamIsCapturing, _ptsz, (CUstream, stream), (int *, status))                         \
	B(cuStreamGetCaptureInfo_v2, _ptsz, (CUstream, stream), (int *, status), (uint64_t *, id), \
	  (CUgraph *, graph), (const CUgraphNode **, from), (size_t *, count))                     \
	B(cuStreamGetCaptureInfo_v3, _ptsz, (CUstream, stream), (int *, status), (uint64_t *, id), \
	  (CUgraph *, graph), (const CUgraphNode **, from), (const CUgraphEdgeData **, data),      \
	  (size_t *, count))                                                                       \
	X(cuThreadExchangeStreamCaptureMode, (int *, mode))                                        \
	X(cuLibraryLoadData, (CUlibrary *, library), (const void *, image), (int *, options),      \
	  (void **, values), (unsigned int, count), (int *, library_options),                      \
	  (void **, library_values), (unsigned int, library_count))                                \
	X(cuLibraryLoadFromFile, (CUlibrary *, library), (const char *, file), (int *, options),   \
	  (void **, values), (unsigned int, count), (int *, library_options),                      \
	  (void **, library_values), (unsigned int, library_count))                                \
	X(cuLibraryUnload, (CUlibrary, library))                                                   \
	X(cuLibraryGetKernel, (CUkernel *, kernel), (CUlibrary, library), (const char *, name))    \
	X(cuLibraryGetModule, (CUmodule *, module), (CUlibrary, library))                          \
	X(cuLibraryGetGlobal, (CUdeviceptr *, address), (size_t *, bytes), (CUlibrary, library),   \
	  (const char *, name))                                                                    \
	X(cuKernelGetFunction, (CUfunction *, function), (CUkernel, kernel))                       \
	X(cuKernelGetName, (const char **, name), (CUkernel, kernel))                              \
	X(cuKernelGetLibrary, (CUlibrary *, library), (CUkernel, kernel))                          \
	X(cuKernelGetAttribute, (int *, value), (unsigned int, attribute), (CUkernel, kernel),     \
	  (CUdevice, device))                                                                      \
	X(cuKernelSetAttribute, (unsigned int, attribute), (int, value), (CUkernel, kernel),       \
	  (CUdevice, device))                                                                      \
	X(cuModuleGetLoadingMode, (int *, mode))                                                   \
	X(cuFuncSetCacheConfig, (CUfunction, function), (int, config))                             \
	X(cuFuncGetParamInfo, (CUfunction, function), (size_t, index), (size_t *, offset),         \
	  (size_t *, bytes))                                                                       \
	X(cuFuncIsLoaded, (int *, state), (CUfunction, function))                                  \
	X(cuFuncLoad, (CUfunction, function))                                                      \
	B(cuLaunchCooperativeKernel, _ptsz, (CUfunction, function), (unsigned int, grid_x),        \
	  (unsigned int, grid_y), (unsigned int, grid_z), (unsigned int, block_x),                 \
	  (unsigned int, block_y), (unsigned int, block_z), (unsigned int, shared),                \
	  (CUstream, stream), (void **, parameters))                                               \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, blocks), (CUfunction, function),    \
	  (int, block), (size_t, shared))                                                          \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *, blocks),                   \
	  (CUfunction, function), (int, block), (size_t, shared), (unsigned int, flags))           \
	X(cuOccupancyMaxPotentialBlockSize, (int *, grid), (int *, block), (CUfunction, function), \
	  (CUoccupancyB2DSize *, shared_of), (size_t, shared), (int, limit))                       \
	X(cuOccupancyMaxPotentialBlockSizeWithFlags, (int *, grid), (int *, block),                \
	  (CUfunction, function), (CUoccupancyB2DSize *, shared_of), (size_t, shared),             \
	  (int, limit), (unsigned int, flags))                                                     \
	X(cuOccupancyAvailableDynamicSMemPerBlock, (size_t *, shared), (CUfunction, function),     \
	  (int, blocks), (int, block))                                                             \
	X(cuMemPoolCreate, (CUmemoryPool *, pool), (const CUmemPoolProps *, properties))           \
	X(cuMemPoolDestroy, (CUmemoryPool, pool))                                                  \
	X(cuMemPoolTrimTo, (CUmemoryPool, pool), (size_t, bytes))                                  \
	X(cuMemPoolSetAttribute, (CUmemoryPool, pool), (int, attribute), (void *, value))          \
	X(cuMemPoolGetAttribute, (CUmemoryPool, pool), (int, attribute), (void *, value))          \
	X(cuMemPoolSetAccess, (CUmemoryPool, pool), (const void *, accesses), (size_t, count))     \
	X(cuDeviceGetDefaultMemPool, (CUmemoryPool *, pool), (CUdevice, device))                   \
	X(cuDeviceGetMemPool, (CUmemoryPool *, pool), (CUdevice, device))                          \
	X(cuDeviceSetMemPool, (CUdevice, device), (CUmemoryPool, pool))                            \
	B(cuMemAllocFromPoolAsync, _ptsz, (CUdeviceptr *, address), (size_t, bytes),               \
	  (CUmemoryPool, pool), (CUstream, stream))                                                \
	B(cuMemPrefetchAsync, _ptsz, (CUdeviceptr, address), (size_t, bytes), (CUdevice, device),  \
	  (CUstream, stream))                                                                      \
	B(cuMemPrefetchAsync_v2, _ptsz, (CUdeviceptr, address), (size_t, bytes),                   \
	  (CUmemLocation, location), (unsigned int, flags), (CUstream, stream))                    \
	X(cuMemAdvise, (CUdeviceptr, address), (size_t, bytes), (int, advice), (CUdevice, device)) \
	X(cuMemAdvise_v2, (CUdeviceptr, address), (size_t, bytes), (int, advice),                  \
	  (CUmemLocation, location))                                                               \
	B(cuMemcpyPeer, _ptds, (CUdeviceptr, to), (CUcontext, to_context), (CUdeviceptr, from),    \
	  (CUcontext, from_context), (size_t, bytes))                                              \
	B(cuMemcpyPeerAsync, _ptsz, (CUdeviceptr, to), (CUcontext, to_context),                    \
	  (CUdeviceptr, from), (CUcontext, from_context), (size_t, bytes), (CUstream, stream))     \
	X(cuDeviceCanAccessPeer, (int *, can), (CUdevice, device), (CUdevice, peer))               \
	X(cuDeviceGetP2PAttribute, (int *, value), (int, attribute), (CUdevice, from),             \
	  (CUdevice, to))                                                                          \
	X(cuCtxEnablePeerAccess, (CUcontext, peer), (unsigned int, flags))                         \
	X(cuCtxDisablePeerAccess, (CUcontext, peer))                                               \
	B(cuMemcpy2D_v2, _ptds, (const CUDA_MEMCPY2D *, copy))                                     \
	B(cuMemcpy2DAsync_v2, _ptsz, (const CUDA_MEMCPY2D *, copy), (CUstream, stream))            \
	B(cuMemcpy3D_v2, _ptds, (const CUDA_MEMCPY3D *, copy))                                     \
	B(cuMemcpy3DAsync_v2, _ptsz, (const CUDA_MEMCPY3D *, copy), (CUstream, stream))            \
	X(cuPointerGetAttribute, (void *, value), (int, attribute), (CUdeviceptr, address))        \
	X(cuPointerGetAttributes, (unsigned int, count), (int *, attributes), (void **, values),   \
	  (CUdeviceptr, address))                                                                  \
	X(cuMemHostRegister_v2, (void *, address), (size_t, bytes), (unsigned int, flags))         \
	X(cuMemHostUnregister, (void *, address))                                                  \
	X(cuMemHostGetFlags, (unsigned int *, flags), (void *, address))                           \
	X(cuCtxCreate_v4, (CUcontext *, context), (void *, parameters), (unsigned int, flags),     \
	  (CUdevice, device))                                                                      \
	X(cuCtxGetLimit, (size_t *, value), (int, limit))                                          \
	X(cuCtxSetLimit, (int, limit), (size_t, value))                                            \
	X(cuCtxGetCacheConfig, (int *, config))                                                    \
	X(cuCtxSetCacheConfig, (int, config))                                                      \
	X(cuCtxGetId, (CUcontext, context), (unsigned long long *, id))                            \
	X(cuCtxGetDevice_v2, (CUdevice *, device), (CUcontext, context))                           \
	X(cuCtxSynchronize_v2, (CUcontext, context))                                               \
	B(cuStreamGetId, _ptsz, (CUstream, stream), (unsigned long long *, id))                    \
	B(cuStreamGetDevice, _ptsz, (CUstream, stream), (CUdevice *, device))                      \
	B(cuEventRecordWithFlags, _ptsz, (CUevent, event), (CUstream, stream),                     \
	  (unsigned int, flags))                                                                   \
	X(cuEventElapsedTime_v2, (float *, milliseconds), (CUevent, start), (CUevent, end))        \
	X(cuDeviceGetPCIBusId, (char *, text), (int, length), (CUdevice, device))                  \
	X(cuDeviceGetByPCIBusId, (CUdevice *, device), (const char *, text))                       \
	V(cuProfilerStart)                                                                         \
	V(cuProfilerStop)                                                                          \
	X(cuGraphNodeGetDependencies, (CUgraphNode, node), (CUgraphNode *, nodes),                 \
	  (size_t *, count))                                                                       \
	X(cuGraphNodeGetDependencies_v2, (CUgraphNode, node), (CUgraphNode *, nodes),              \
	  (CUgraphEdgeData *, data), (size_t *, count))                                            \
	X(cuGraphNodeGetDependentNodes, (CUgraphNode, node), (CUgraphNode *, nodes),               \
	  (size_t *, count))                                                                       \
	X(cuGraphNodeGetDependentNodes_v2, (CUgraphNode, node), (CUgraphNode *, nodes),            \
	  (CUgraphEdgeData *, data), (size_t *, count))                                            \
	X(cuGraphKernelNodeGetParams_v2, (CUgraphNode, node),                                      \
	  (CUDA_KERNEL_NODE_PARAMS *, parameters))                                                 \
	B(cuMemsetD2D8_v2, _ptds, (CUdeviceptr, to), (size_t, pitch), (unsigned char, value),      \
	  (size_t, width), (size_t, height))                                                       \
	B(cuMemsetD2D16_v2, _ptds, (CUdeviceptr, to), (size_t, pitch), (unsigned short, value),    \
	  (size_t, width), (size_t, height))                                                       \
	B(cuMemsetD2D32_v2, _ptds, (CUdeviceptr, to), (size_t, pitch), (unsigned int, value),      \
	  (size_t, width), (size_t, height))                                                       \
	B(cuMemsetD2D8Async, _ptsz, (CUdeviceptr, to), (size_t, pitch), (unsigned char, value),    \
	  (size_t, width), (size_t, height), (CUstream, stream))                                   \
	B(cuMemsetD2D16Async, _ptsz, (CUdeviceptr, to), (size_t, pitch), (unsigned short, value),  \
	  (size_t, width), (size_t, height), (CUstream, stream))                                   \
	B(cuMemsetD2D32Async, _ptsz, (CUdeviceptr, to), (size_t, pitch), (unsigned int, value),    \
	  (size_t, width), (size_t, height), (CUstream, stream))

#endif
