/* SPDX-License-Identifier: MIT */
/* The CUDA driver API that the software driver implements, under the names that libcuda.so.1
 * exports. For the driver itself, and for test programs that are built without NVIDIA's headers.
 * Prototypes (calls.h) and values are NVIDIA's. Structs are opaque, except those that the program
 * fills in for launches.
 *
 * A kernel is a host function in a shared object that is loaded as a module:
 *
 * 	SOFT_CUDA_KERNEL(add, sizeof(float *), sizeof(int))
 * 	{
 * 		float *array = *(float **)arguments[0];
 * 		...                                  once for each thread of each block
 * 	} */
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
	CUDA_ERROR_ILLEGAL_STATE = 401,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_ILLEGAL_ADDRESS = 700,
	CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
	CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
	CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705,
	CUDA_ERROR_LAUNCH_FAILED = 719,
	CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
	CUDA_ERROR_NOT_SUPPORTED = 801,
	CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
	CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
	CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
	CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
	CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910,
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
typedef struct soft_cu_graph *CUgraph;
typedef struct soft_cu_exec *CUgraphExec;
typedef struct soft_cu_node *CUgraphNode;
typedef struct soft_cu_library *CUlibrary;
typedef struct soft_cu_function
	*CUkernel; /* launches also accept a kernel in place of a function */
typedef struct soft_cu_pool *CUmemoryPool;
typedef size_t CUoccupancyB2DSize(int block);
typedef struct {
	int type, id;
} CUmemLocation;
typedef struct {
	int allocType, handleTypes;
	CUmemLocation location;
	void *win32SecurityAttributes;
	size_t maxSize;
	unsigned char reserved[56];
} CUmemPoolProps;
typedef struct {
	size_t srcXInBytes, srcY;
	int srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	void *srcArray;
	size_t srcPitch, dstXInBytes, dstY;
	int dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	void *dstArray;
	size_t dstPitch, WidthInBytes, Height;
} CUDA_MEMCPY2D;
typedef void CUhostFn(void *data);
typedef void CUstreamCallback(CUstream stream, int status, void *data);

/* kern and ctx exist only in the second form. NEEDSWORK: kern is ignored. */
typedef struct {
	CUfunction func;
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	void **kernelParams, **extra;
	void *kern;
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;
typedef struct {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	int srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	void *srcArray, *reserved0;
	size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
	int dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	void *dstArray, *reserved1;
	size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;
typedef struct {
	CUdeviceptr dst;
	size_t pitch;
	unsigned int value, elementSize;
	size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;
typedef struct {
	CUhostFn *fn;
	void *userData;
} CUDA_HOST_NODE_PARAMS;
typedef struct {
	uint64_t flags;
	CUstream hUploadStream;
	CUgraphNode hErrNode_out;
	int result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;
typedef struct {
	int result;
	CUgraphNode errorNode, errorFromNode;
} CUgraphExecUpdateResultInfo;
typedef struct {
	unsigned char from_port, to_port, type, reserved[5];
} CUgraphEdgeData;
enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2, CU_MEMORYTYPE_UNIFIED = 4 };
enum {
	CU_GRAPH_NODE_TYPE_KERNEL = 0,
	CU_GRAPH_NODE_TYPE_MEMCPY = 1,
	CU_GRAPH_NODE_TYPE_MEMSET = 2,
	CU_GRAPH_NODE_TYPE_HOST = 3,
	CU_GRAPH_NODE_TYPE_GRAPH = 4,
	CU_GRAPH_NODE_TYPE_EMPTY = 5,
	CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6,
	CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
};
enum {
	CU_GRAPH_EXEC_UPDATE_SUCCESS = 0,
	CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
	CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3,
};
enum {
	CU_STREAM_CAPTURE_STATUS_NONE,
	CU_STREAM_CAPTURE_STATUS_ACTIVE,
	CU_STREAM_CAPTURE_STATUS_INVALIDATED
};
/* all arguments of a launch in one buffer */
#define CU_LAUNCH_PARAM_END            ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE    ((void *)2)

#define CU_STREAM_LEGACY     ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)
enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DISABLE_TIMING = 2 };
/* a flag of cuGetProcAddress() */
enum { CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2 };

/* Kernels ---------------------------------------------------------------------- */

struct soft_cuda_position {
	struct {
		unsigned int x, y, z;
	} block_index, thread_index, grid_dim, block_dim;
	void *shared; /* the block's shared memory, zeroed before the block's first thread runs */
	void (*synchronize)(const struct soft_cuda_position *at); /* SOFT_CUDA_SYNCHRONIZE() */
	void *block;                                              /* owned by the driver */
};

struct soft_cuda_parameters {
	uint32_t count;
	uint32_t bytes[16];
	uint32_t synchronizes; /* true if the threads of a block run at once */
};

/* Define a kernel whose threads wait for each other with SOFT_CUDA_BLOCK_KERNEL(). Each thread of a
 * block then has a host thread. */
#define SOFT_CUDA_SYNCHRONIZE()           at->synchronize(at)
#define SOFT_CUDA_KERNEL(name, ...)       SOFT_CUDA_ANY_KERNEL(name, 0, __VA_ARGS__)
#define SOFT_CUDA_BLOCK_KERNEL(name, ...) SOFT_CUDA_ANY_KERNEL(name, 1, __VA_ARGS__)
#define SOFT_CUDA_ANY_KERNEL(name, synchronizes, ...)                                         \
	__attribute__((visibility("default")))                                                \
	const struct soft_cuda_parameters name##_parameters = {                               \
		sizeof((uint32_t[]){__VA_ARGS__}) / 4, {__VA_ARGS__}, synchronizes};          \
	__attribute__((visibility("default"))) void name(const struct soft_cuda_position *at, \
							 void **arguments);                   \
	void name(const struct soft_cuda_position *at __attribute__((unused)),                \
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
