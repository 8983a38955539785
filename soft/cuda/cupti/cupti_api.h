/* SPDX-License-Identifier: MIT */
/* The part of CUPTI that the substitute implements, under the names that libcupti.so.13 exports.
 * For the library itself, and for test programs that are built without NVIDIA's headers.
 * Prototypes, numbers and layouts are NVIDIA's. The layouts are those of 13.5; records of older
 * versions are shorter (cupti_layout.c). Handles are the driver's. */
#ifndef SOFT_CUPTI_API_H
#define SOFT_CUPTI_API_H

#include <stddef.h>
#include <stdint.h>

#include "soft/cuda/cuda_api.h"

/* X(number, name without CUPTI_) */
#define SOFT_CUPTI_RESULTS(X)                           \
	X(0, SUCCESS)                                   \
	X(1, ERROR_INVALID_PARAMETER)                   \
	X(2, ERROR_INVALID_DEVICE)                      \
	X(3, ERROR_INVALID_CONTEXT)                     \
	X(7, ERROR_INVALID_OPERATION)                   \
	X(8, ERROR_OUT_OF_MEMORY)                       \
	X(10, ERROR_PARAMETER_SIZE_NOT_SUFFICIENT)      \
	X(11, ERROR_API_NOT_IMPLEMENTED)                \
	X(12, ERROR_MAX_LIMIT_REACHED)                  \
	X(13, ERROR_NOT_READY)                          \
	X(14, ERROR_NOT_COMPATIBLE)                     \
	X(15, ERROR_NOT_INITIALIZED)                    \
	X(18, ERROR_QUEUE_EMPTY)                        \
	X(19, ERROR_INVALID_HANDLE)                     \
	X(20, ERROR_INVALID_STREAM)                     \
	X(21, ERROR_INVALID_KIND)                       \
	X(27, ERROR_NOT_SUPPORTED)                      \
	X(35, ERROR_INSUFFICIENT_PRIVILEGES)            \
	X(39, ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) \
	X(999, ERROR_UNKNOWN)

enum {
#define X(number, name) CUPTI_##name = (number),
	SOFT_CUPTI_RESULTS(X)
#undef X
};

enum {
	CUPTI_CB_DOMAIN_DRIVER_API = 1,
	CUPTI_CB_DOMAIN_RUNTIME_API = 2,
	CUPTI_CB_DOMAIN_RESOURCE = 3,
	CUPTI_CB_DOMAIN_SYNCHRONIZE = 4,
	CUPTI_CB_DOMAIN_NVTX = 5,
	CUPTI_CB_DOMAIN_STATE = 6,
	CUPTI_CB_DOMAIN_SIZE = 7,
};

enum {
	CUPTI_ACTIVITY_KIND_MEMCPY = 1,
	CUPTI_ACTIVITY_KIND_MEMSET = 2,
	CUPTI_ACTIVITY_KIND_KERNEL = 3,
	CUPTI_ACTIVITY_KIND_DRIVER = 4,
	CUPTI_ACTIVITY_KIND_RUNTIME = 5,
	CUPTI_ACTIVITY_KIND_DEVICE = 8,
	CUPTI_ACTIVITY_KIND_CONTEXT = 9,
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_ACTIVITY_KIND_OVERHEAD = 17,
	CUPTI_ACTIVITY_KIND_MEMCPY2 = 22,
	CUPTI_ACTIVITY_KIND_STREAM = 37,
	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION = 38,
	CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION = 39,
	CUPTI_ACTIVITY_KIND_GRAPH_TRACE = 51,
	CUPTI_ACTIVITY_KIND_COUNT = 60,
};

enum { CUPTI_API_ENTER = 0, CUPTI_API_EXIT = 1 };
enum { CUPTI_ACTIVITY_FLAG_FLUSH_FORCED = 1, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC = 1 };

typedef struct CUpti_Subscriber_st *CUpti_SubscriberHandle;
typedef uint32_t CUpti_CallbackId;
typedef void (*CUpti_CallbackFunc)(void *user, int domain, CUpti_CallbackId id, const void *data);
typedef void (*CUpti_BuffersCallbackRequestFunc)(uint8_t **buffer, size_t *size, size_t *records);
typedef void (*CUpti_BuffersCallbackCompleteFunc)(CUcontext context, uint32_t stream,
						  uint8_t *buffer, size_t size, size_t valid);
typedef uint64_t (*CUpti_TimestampCallbackFunc)(void);

typedef struct {
	int callbackSite;
	const char *functionName;
	const void *functionParams;
	void *functionReturnValue;
	const char *symbolName;
	CUcontext context;
	uint32_t contextUid;
	uint64_t *correlationData;
	uint32_t correlationId;
} CUpti_CallbackData;

typedef struct {
	CUcontext context;
	CUstream stream; /* a union with more handles */
	void *resourceDescriptor;
} CUpti_ResourceData;

/* resourceDescriptor for graphs and their nodes. */
typedef struct {
	CUgraph graph, originalGraph;
	CUgraphNode node, originalNode;
	int nodeType;
	CUgraphNode dependency;
	CUgraphExec graphExec;
} CUpti_GraphData;

typedef struct {
	CUcontext context;
	CUstream stream;
} CUpti_SynchronizeData;

/* For the _v2 functions, which CUPTI 13.2 added. */
typedef struct {
	size_t structSize;
	const char *subscriberName;
	char *oldSubscriberName;
	size_t oldSubscriberSize;
	uint8_t allowMultipleSubscribers, padding[7];
} CUpti_SubscriberParams;
typedef struct {
	size_t structSize;
} CUpti_BufferCallbackRequestInfo;
typedef struct {
	size_t structSize;
	uint64_t threadId;
	void **ppRecordLayouts; /* layouts of selected fields; not supported */
	size_t numRecordLayouts;
} CUpti_BufferCallbackCompleteInfo;
typedef void (*CUpti_BuffersCallbackRequestFunc_v2)(uint8_t **buffer, size_t *size, size_t *records,
						    CUpti_BufferCallbackRequestInfo *info);
typedef void (*CUpti_BuffersCallbackCompleteFunc_v2)(uint8_t *buffer, size_t size, size_t valid,
						     CUpti_BufferCallbackCompleteInfo *info);

/* Records -------------------------------------------------------------------------- */

typedef struct {
	uint32_t kind;
} CUpti_Activity;

typedef struct {
	uint32_t kind;
	uint8_t cacheConfig, sharedMemoryConfig;
	uint16_t registersPerThread;
	uint32_t partitionedGlobalCacheRequested, partitionedGlobalCacheExecuted;
	uint64_t start, end, completed;
	uint32_t deviceId, contextId, streamId;
	int32_t gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory,
		dynamicSharedMemory;
	uint32_t localMemoryPerThread, localMemoryTotal, correlationId;
	int64_t gridId;
	const char *name;
	void *reserved0;
	uint64_t queued, submitted;
	uint8_t launchType, isSharedMemoryCarveoutRequested, sharedMemoryCarveoutRequested, padding;
	uint32_t sharedMemoryExecuted;
	uint64_t graphNodeId;
	uint32_t shmemLimitConfig, graphId;
	void *pAccessPolicyWindow;
	uint32_t channelID, channelType, clusterX, clusterY, clusterZ, clusterSchedulingPolicy;
	uint64_t localMemoryTotal_v2;
	/* 12.0 */
	uint32_t maxPotentialClusterSize, maxActiveClusters;
	/* 13.0 */
	uint8_t isDeviceLaunched, padding3[7];
	/* 13.5 */
	int32_t priority;
	uint32_t padding4, executionModel, padding5, sourceGraphId, padding6;
	uint64_t sourceGraphNodeId;
} CUpti_ActivityKernel13;

typedef struct {
	uint32_t kind;
	uint8_t copyKind, srcKind, dstKind, flags;
	uint64_t bytes, start, end;
	uint32_t deviceId, contextId, streamId, correlationId, runtimeCorrelationId, pad;
	void *reserved0;
	uint64_t graphNodeId;
	uint32_t graphId, channelID, channelType;
	uint8_t isDeviceLaunched, pad2[3];
	/* 12.8 */
	uint64_t copyCount;
	/* 13.5 */
	uint32_t sourceGraphId, pad3;
	uint64_t sourceGraphNodeId;
} CUpti_ActivityMemcpy7;

typedef struct {
	uint32_t kind;
	uint8_t copyKind, srcKind, dstKind, flags;
	uint64_t bytes, start, end;
	uint32_t deviceId, contextId, streamId, srcDeviceId, srcContextId, dstDeviceId,
		dstContextId, correlationId;
	void *reserved0;
	uint64_t graphNodeId;
	uint32_t graphId, channelID, channelType, pad;
} CUpti_ActivityMemcpyPtoP4;

typedef struct {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t deviceId, contextId, streamId, correlationId;
	uint16_t flags, memoryKind;
	uint32_t pad;
	void *reserved0;
	uint64_t graphNodeId;
	uint32_t graphId, channelID, channelType;
	uint8_t isDeviceLaunched, pad2[3];
	/* 13.5 */
	uint32_t sourceGraphId, pad3;
	uint64_t sourceGraphNodeId;
} CUpti_ActivityMemset5;

typedef struct {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t processId, threadId, correlationId, returnValue;
} CUpti_ActivityAPI;

typedef struct {
	uint32_t kind, flags;
	uint64_t globalMemoryBandwidth, globalMemorySize;
	uint32_t constantMemorySize, l2CacheSize, numThreadsPerWarp, coreClockRate,
		numMemcpyEngines, numMultiprocessors, maxIPC, maxWarpsPerMultiprocessor,
		maxBlocksPerMultiprocessor, maxSharedMemoryPerMultiprocessor,
		maxRegistersPerMultiprocessor, maxRegistersPerBlock, maxSharedMemoryPerBlock,
		maxThreadsPerBlock, maxBlockDimX, maxBlockDimY, maxBlockDimZ, maxGridDimX,
		maxGridDimY, maxGridDimZ, computeCapabilityMajor, computeCapabilityMinor, id,
		eccEnabled;
	CUuuid uuid;
	const char *name;
	uint8_t isCudaVisible, isMigEnabled, reserved[6];
	uint32_t gpuInstanceId, computeInstanceId;
	CUuuid migUuid;
	/* 12.9 */
	uint32_t isNumaNode, numaId;
	/* 13.5 */
	uint32_t numTpcs, reserved0;
} CUpti_ActivityDevice6;

typedef struct {
	uint32_t kind, contextId, deviceId;
	uint16_t computeApiKind, nullStreamId;
	/* 12.9 */
	uint32_t parentContextId;
	uint8_t isGreenContext, padding;
	uint16_t numMultiprocessors;
	uint32_t cigMode, padding2;
	/* 13.5 */
	uint64_t processId;
} CUpti_ActivityContext4;

typedef struct {
	uint32_t kind, contextId, streamId, priority, flag, correlationId;
} CUpti_ActivityStream;

typedef struct {
	uint32_t kind, externalKind;
	uint64_t externalId;
	uint32_t correlationId, reserved;
} CUpti_ActivityExternalCorrelation;

typedef struct {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlationId, contextId, streamId, cudaEventId;
	/* 12.8 */
	uint64_t cudaEventSyncId;
	uint32_t returnValue, pad;
} CUpti_ActivitySynchronization2;

typedef struct {
	uint32_t kind, correlationId;
	uint64_t start, end;
	uint32_t deviceId, graphId, contextId, streamId;
	void *reserved;
	/* 12.9 */
	uint32_t endDeviceId, endContextId;
} CUpti_ActivityGraphTrace2;

/* Functions ------------------------------------------------------------------------ */

CUDA_API int cuptiGetVersion(uint32_t *version);
CUDA_API int cuptiGetResultString(int result, const char **text);
CUDA_API int cuptiGetErrorMessage(int result, const char **text);
CUDA_API int cuptiGetTimestamp(uint64_t *timestamp);
CUDA_API int cuptiFinalize(void);

CUDA_API int cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
			    void *user);
CUDA_API int cuptiUnsubscribe(CUpti_SubscriberHandle subscriber);
CUDA_API int cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber, int domain,
				 CUpti_CallbackId id);
CUDA_API int cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber, int domain);
CUDA_API int cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber);
CUDA_API int cuptiGetCallbackName(int domain, uint32_t id, const char **name);
CUDA_API int cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle subscriber, int domain,
				   CUpti_CallbackId id);

CUDA_API int cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
					    CUpti_BuffersCallbackCompleteFunc completed);
CUDA_API int cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp);
CUDA_API int cuptiActivityEnable(int kind);
CUDA_API int cuptiActivityEnableAndDump(int kind);
CUDA_API int cuptiActivityDisable(int kind);
CUDA_API int cuptiActivityEnableContext(CUcontext context, int kind);
CUDA_API int cuptiActivityDisableContext(CUcontext context, int kind);
CUDA_API int cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t enable);
CUDA_API int cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t enable);
CUDA_API int cuptiActivityEnableLatencyTimestamps(uint8_t enable);
CUDA_API int cuptiActivityEnableLaunchAttributes(uint8_t enable);
CUDA_API int cuptiActivityEnableHWTrace(uint8_t enable);
CUDA_API int cuptiActivityFlushAll(uint32_t flag);
CUDA_API int cuptiActivityFlush(CUcontext context, uint32_t stream, uint32_t flag);
CUDA_API int cuptiActivityFlushPeriod(uint32_t ms);
CUDA_API int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record);
CUDA_API int cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped);
CUDA_API int cuptiActivityGetAttribute(int attribute, size_t *size, void *value);
CUDA_API int cuptiActivitySetAttribute(int attribute, size_t *size, void *value);
CUDA_API int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id);
CUDA_API int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id);
CUDA_API int cuptiSetThreadIdType(int type);
CUDA_API int cuptiGetThreadIdType(int *type);

CUDA_API int cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
			       void *user, CUpti_SubscriberParams *parameters);
CUDA_API int cuptiGetTimestamp_v2(CUpti_SubscriberHandle subscriber, uint64_t *timestamp);
CUDA_API int cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber,
					       CUpti_BuffersCallbackRequestFunc_v2 requested,
					       CUpti_BuffersCallbackCompleteFunc_v2 completed);
CUDA_API int cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, int kind, void *config);
CUDA_API int cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber, int kind, void *config);
CUDA_API int cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber, uint8_t *buffer,
					   size_t valid, CUpti_Activity **record);
CUDA_API int cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle subscriber,
						  CUcontext context, uint32_t stream,
						  size_t *dropped);

CUDA_API int cuptiGetContextId(CUcontext context, uint32_t *id);
CUDA_API int cuptiGetDeviceId(CUcontext context, uint32_t *id);
CUDA_API int cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *id);
CUDA_API int cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread,
				uint32_t *id);
CUDA_API int cuptiGetGraphId(void *graph, uint32_t *id);
CUDA_API int cuptiGetGraphExecId(void *exec, uint32_t *id);
CUDA_API int cuptiGetGraphNodeId(void *node, uint64_t *id);

#endif
