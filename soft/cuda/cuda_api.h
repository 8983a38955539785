/* SPDX-License-Identifier: MIT */
/* What the software driver has of the CUDA driver API, under the names that libcuda.so.1 exports:
 * for the driver itself, and for programs of tests that are built where NVIDIA's headers are not.
 * Prototypes and values are NVIDIA's; structs are opaque but for the one that launches take.
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

#define CUDA_API                 __attribute__((visibility("default")))
/* the form for programs whose default stream is the thread's */
#define PER_THREAD(name, suffix) CUDA_API extern __typeof__(name) name##suffix

CUDA_API int cuInit(unsigned int flags);
CUDA_API int cuDriverGetVersion(int *version);
CUDA_API int cuGetErrorName(int error, const char **name);
CUDA_API int cuGetErrorString(int error, const char **text);
CUDA_API int cuGetExportTable(const void **table, const CUuuid *id);
CUDA_API int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);
CUDA_API int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
				 unsigned int *status);

CUDA_API int cuDeviceGet(CUdevice *device, int ordinal);
CUDA_API int cuDeviceGetCount(int *count);
CUDA_API int cuDeviceGetName(char *name, int length, CUdevice device);
CUDA_API int cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUDA_API int cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CUDA_API int cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
CUDA_API int cuDeviceGetAttribute(int *value, unsigned int attribute, CUdevice device);
CUDA_API int cuDeviceComputeCapability(int *major, int *minor, CUdevice device);

CUDA_API int cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUDA_API int cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUDA_API int cuDevicePrimaryCtxReset_v2(CUdevice device);
CUDA_API int cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active);
CUDA_API int cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags);
CUDA_API int cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUDA_API int cuCtxDestroy_v2(CUcontext context);
CUDA_API int cuCtxPushCurrent_v2(CUcontext context);
CUDA_API int cuCtxPopCurrent_v2(CUcontext *context);
CUDA_API int cuCtxSetCurrent(CUcontext context);
CUDA_API int cuCtxGetCurrent(CUcontext *context);
CUDA_API int cuCtxGetDevice(CUdevice *device);
CUDA_API int cuCtxGetFlags(unsigned int *flags);
CUDA_API int cuCtxGetApiVersion(CUcontext context, unsigned int *version);
CUDA_API int cuCtxGetStreamPriorityRange(int *least, int *greatest);
CUDA_API int cuCtxSynchronize(void);

CUDA_API int cuStreamCreate(CUstream *stream, unsigned int flags);
CUDA_API int cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority);
CUDA_API int cuStreamDestroy_v2(CUstream stream);
CUDA_API int cuStreamSynchronize(CUstream stream);
PER_THREAD(cuStreamSynchronize, _ptsz);
CUDA_API int cuStreamQuery(CUstream stream);
PER_THREAD(cuStreamQuery, _ptsz);
CUDA_API int cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
PER_THREAD(cuStreamWaitEvent, _ptsz);
CUDA_API int cuStreamAddCallback(CUstream stream, CUstreamCallback *callback, void *data,
				 unsigned int flags);
PER_THREAD(cuStreamAddCallback, _ptsz);
CUDA_API int cuStreamGetFlags(CUstream stream, unsigned int *flags);
PER_THREAD(cuStreamGetFlags, _ptsz);
CUDA_API int cuStreamGetPriority(CUstream stream, int *priority);
PER_THREAD(cuStreamGetPriority, _ptsz);
CUDA_API int cuStreamGetCtx(CUstream stream, CUcontext *context);
PER_THREAD(cuStreamGetCtx, _ptsz);
CUDA_API int cuLaunchHostFunc(CUstream stream, CUhostFn *function, void *data);
PER_THREAD(cuLaunchHostFunc, _ptsz);

CUDA_API int cuEventCreate(CUevent *event, unsigned int flags);
CUDA_API int cuEventDestroy_v2(CUevent event);
CUDA_API int cuEventRecord(CUevent event, CUstream stream);
PER_THREAD(cuEventRecord, _ptsz);
CUDA_API int cuEventQuery(CUevent event);
CUDA_API int cuEventSynchronize(CUevent event);
CUDA_API int cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);

CUDA_API int cuMemGetInfo_v2(size_t *available, size_t *total);
CUDA_API int cuMemAlloc_v2(CUdeviceptr *address, size_t bytes);
CUDA_API int cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
				unsigned int element);
CUDA_API int cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags);
CUDA_API int cuMemFree_v2(CUdeviceptr address);
CUDA_API int cuMemAllocHost_v2(void **address, size_t bytes);
CUDA_API int cuMemHostAlloc(void **address, size_t bytes, unsigned int flags);
CUDA_API int cuMemFreeHost(void *address);
CUDA_API int cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned int flags);
CUDA_API int cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address);
CUDA_API int cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream);
PER_THREAD(cuMemAllocAsync, _ptsz);
CUDA_API int cuMemFreeAsync(CUdeviceptr address, CUstream stream);
PER_THREAD(cuMemFreeAsync, _ptsz);

CUDA_API int cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
PER_THREAD(cuMemcpy, _ptds);
CUDA_API int cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
PER_THREAD(cuMemcpyHtoD_v2, _ptds);
CUDA_API int cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
PER_THREAD(cuMemcpyDtoH_v2, _ptds);
CUDA_API int cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
PER_THREAD(cuMemcpyDtoD_v2, _ptds);
CUDA_API int cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
PER_THREAD(cuMemcpyAsync, _ptsz);
CUDA_API int cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);
PER_THREAD(cuMemcpyHtoDAsync_v2, _ptsz);
CUDA_API int cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
PER_THREAD(cuMemcpyDtoHAsync_v2, _ptsz);
CUDA_API int cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
PER_THREAD(cuMemcpyDtoDAsync_v2, _ptsz);
CUDA_API int cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
PER_THREAD(cuMemsetD8_v2, _ptds);
CUDA_API int cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count);
PER_THREAD(cuMemsetD16_v2, _ptds);
CUDA_API int cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count);
PER_THREAD(cuMemsetD32_v2, _ptds);
CUDA_API int cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream);
PER_THREAD(cuMemsetD8Async, _ptsz);
CUDA_API int cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream);
PER_THREAD(cuMemsetD16Async, _ptsz);
CUDA_API int cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream);
PER_THREAD(cuMemsetD32Async, _ptsz);

CUDA_API int cuModuleLoad(CUmodule *module, const char *file);
CUDA_API int cuModuleLoadData(CUmodule *module, const void *image);
CUDA_API int cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
				unsigned int *options, void **values);
CUDA_API int cuModuleUnload(CUmodule module);
CUDA_API int cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUDA_API int cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
				  const char *name);
CUDA_API int cuFuncGetAttribute(int *value, unsigned int attribute, CUfunction function);
CUDA_API int cuFuncSetAttribute(CUfunction function, unsigned int attribute, int value);
CUDA_API int cuFuncGetName(const char **name, CUfunction function);
CUDA_API int cuFuncGetModule(CUmodule *module, CUfunction function);
CUDA_API int cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
			    unsigned int grid_z, unsigned int block_x, unsigned int block_y,
			    unsigned int block_z, unsigned int shared, CUstream stream,
			    void **parameters, void **extra);
PER_THREAD(cuLaunchKernel, _ptsz);
CUDA_API int cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
			      void **extra);
PER_THREAD(cuLaunchKernelEx, _ptsz);

#endif
