/* SPDX-License-Identifier: MIT */
/* A small part of libcudart.so.13: the functions that tests of the runtime API call. Like NVIDIA's
 * runtime, each function reports its arguments to a tool as one struct, and calls the same driver
 * functions. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "soft/cuda/cudart/cudart_parts.h"

#define BEGIN(function, parameters, symbol) \
	struct soft_rt_call call;           \
	cudaError_t status =                \
		soft_rt_begin(&call, GT_CUDA_RUNTIME_##function, #function, parameters, symbol)

/* Device -------------------------------------------------------------------------------- */

cudaError_t cudaDriverGetVersion(int *version)
{
	const struct {
		int *version;
	} parameters = {version};
	BEGIN(cudaDriverGetVersion, &parameters, NULL);

	if (!status)
		status = soft_rt.cuDriverGetVersion(version);
	return soft_rt_end(&call, status);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	const struct {
		int *version;
	} parameters = {version};
	BEGIN(cudaRuntimeGetVersion, &parameters, NULL);

	if (!status)
		*version = 13000;
	return soft_rt_end(&call, status);
}

cudaError_t cudaGetDeviceCount(int *count)
{
	const struct {
		int *count;
	} parameters = {count};
	BEGIN(cudaGetDeviceCount, &parameters, NULL);

	if (!status)
		status = soft_rt.cuDeviceGetCount(count);
	return soft_rt_end(&call, status);
}

cudaError_t cudaGetDevice(int *device)
{
	const struct {
		int *device;
	} parameters = {device};
	BEGIN(cudaGetDevice, &parameters, NULL);

	if (!status)
		status = soft_rt.cuCtxGetDevice(device);
	return soft_rt_end(&call, status);
}

cudaError_t cudaSetDevice(int device)
{
	const struct {
		int device;
	} parameters = {device};
	BEGIN(cudaSetDevice, &parameters, NULL);

	if (!status)
		status = soft_rt_choose_device(device);
	return soft_rt_end(&call, status);
}

cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	const struct {
		int *value;
		int attribute, device;
	} parameters = {value, attribute, device};
	BEGIN(cudaDeviceGetAttribute, &parameters, NULL);

	if (!status)
		status = soft_rt.cuDeviceGetAttribute(value, (unsigned int)attribute, device);
	return soft_rt_end(&call, status);
}

cudaError_t cudaDeviceSynchronize(void)
{
	BEGIN(cudaDeviceSynchronize, NULL, NULL);

	if (!status)
		status = soft_rt.cuCtxSynchronize();
	return soft_rt_end(&call, status);
}

cudaError_t cudaDeviceReset(void)
{
	CUdevice device = 0;
	BEGIN(cudaDeviceReset, NULL, NULL);

	if (!status)
		status = soft_rt.cuCtxGetDevice(&device);
	if (!status)
		status = soft_rt.cuDevicePrimaryCtxReset(device);
	return soft_rt_end(&call, status);
}

cudaError_t cudaGetLastError(void)
{
	BEGIN(cudaGetLastError, NULL, NULL);

	if (!status) {
		status = soft_rt_last;
		soft_rt_last = cudaSuccess;
	}
	const cudaError_t last = status;

	soft_rt_end(&call, status);
	soft_rt_last = cudaSuccess;
	return last;
}

cudaError_t cudaPeekAtLastError(void)
{
	BEGIN(cudaPeekAtLastError, NULL, NULL);

	return soft_rt_end(&call, status ? status : soft_rt_last);
}

const char *cudaGetErrorName(cudaError_t error)
{
	const struct {
		cudaError_t error;
	} parameters = {error};
	const char *name = "cudaErrorUnknown";
	BEGIN(cudaGetErrorName, &parameters, NULL);

	if (!status)
		soft_rt.cuGetErrorName(error, &name);
	soft_rt_end(&call, cudaSuccess);
	return name;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
					     unsigned int version, unsigned long long flags,
					     int *driver_status)
{
	const struct {
		const char *symbol;
		void **function;
		unsigned int version;
		unsigned long long flags;
		int *driver_status;
	} parameters = {symbol, function, version, flags, driver_status};
	unsigned int found = 0;
	BEGIN(cudaGetDriverEntryPointByVersion, &parameters, NULL);

	if (!status)
		status = soft_rt.cuGetProcAddress_v2(symbol, function, (int)version, flags, &found);
	if (!status && driver_status)
		*driver_status = (int)found;
	return soft_rt_end(&call, status);
}

/* Memory -------------------------------------------------------------------------------- */

static void *host_address(CUdeviceptr address)
{
	return (void *)(uintptr_t)address;
}

static CUdeviceptr device_address(const void *address)
{
	return (CUdeviceptr)(uintptr_t)address;
}

/* Store the allocated address, unless the allocation failed. */
static cudaError_t give_address(void **to, CUdeviceptr address, cudaError_t status)
{
	if (!status)
		*to = host_address(address);
	return status;
}

cudaError_t cudaMalloc(void **address, size_t bytes)
{
	const struct {
		void **address;
		size_t bytes;
	} parameters = {address, bytes};
	CUdeviceptr device = 0;
	BEGIN(cudaMalloc, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemAlloc(&device, bytes);
	return soft_rt_end(&call, give_address(address, device, status));
}

cudaError_t cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height)
{
	const struct {
		void **address;
		size_t *pitch, width, height;
	} parameters = {address, pitch, width, height};
	CUdeviceptr device = 0;
	BEGIN(cudaMallocPitch, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemAllocPitch(&device, pitch, width, height, 4);
	return soft_rt_end(&call, give_address(address, device, status));
}

cudaError_t cudaMallocHost(void **address, size_t bytes)
{
	const struct {
		void **address;
		size_t bytes;
	} parameters = {address, bytes};
	BEGIN(cudaMallocHost, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemAllocHost(address, bytes);
	return soft_rt_end(&call, status);
}

cudaError_t cudaHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	const struct {
		void **address;
		size_t bytes;
		unsigned int flags;
	} parameters = {address, bytes, flags};
	BEGIN(cudaHostAlloc, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemHostAlloc(address, bytes, flags);
	return soft_rt_end(&call, status);
}

cudaError_t cudaMallocManaged(void **address, size_t bytes, unsigned int flags)
{
	const struct {
		void **address;
		size_t bytes;
		unsigned int flags;
	} parameters = {address, bytes, flags};
	CUdeviceptr device = 0;
	BEGIN(cudaMallocManaged, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemAllocManaged(&device, bytes, flags);
	return soft_rt_end(&call, give_address(address, device, status));
}

cudaError_t cudaMallocAsync(void **address, size_t bytes, cudaStream_t stream)
{
	const struct {
		void **address;
		size_t bytes;
		cudaStream_t stream;
	} parameters = {address, bytes, stream};
	CUdeviceptr device = 0;
	BEGIN(cudaMallocAsync, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemAllocAsync(&device, bytes, stream);
	return soft_rt_end(&call, give_address(address, device, status));
}

cudaError_t cudaFree(void *address)
{
	const struct {
		void *address;
	} parameters = {address};
	BEGIN(cudaFree, &parameters, NULL);

	if (!status && address)
		status = soft_rt.cuMemFree(device_address(address));
	return soft_rt_end(&call, status);
}

cudaError_t cudaFreeHost(void *address)
{
	const struct {
		void *address;
	} parameters = {address};
	BEGIN(cudaFreeHost, &parameters, NULL);

	if (!status && address)
		status = soft_rt.cuMemFreeHost(address);
	return soft_rt_end(&call, status);
}

cudaError_t cudaFreeAsync(void *address, cudaStream_t stream)
{
	const struct {
		void *address;
		cudaStream_t stream;
	} parameters = {address, stream};
	BEGIN(cudaFreeAsync, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemFreeAsync(device_address(address), stream);
	return soft_rt_end(&call, status);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
	const struct {
		size_t *available, *total;
	} parameters = {available, total};
	BEGIN(cudaMemGetInfo, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemGetInfo(available, total);
	return soft_rt_end(&call, status);
}

/* Copies and sets ----------------------------------------------------------------------- */

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	const struct {
		void *to;
		const void *from;
		size_t bytes;
		int kind;
	} parameters = {to, from, bytes, kind};
	BEGIN(cudaMemcpy, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemcpy(device_address(to), device_address(from), bytes);
	return soft_rt_end(&call, status);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream)
{
	const struct {
		void *to;
		const void *from;
		size_t bytes;
		int kind;
		cudaStream_t stream;
	} parameters = {to, from, bytes, kind, stream};
	BEGIN(cudaMemcpyAsync, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemcpyAsync(device_address(to), device_address(from), bytes,
					       stream);
	return soft_rt_end(&call, status);
}

cudaError_t cudaMemset(void *address, int value, size_t bytes)
{
	const struct {
		void *address;
		int value;
		size_t bytes;
	} parameters = {address, value, bytes};
	BEGIN(cudaMemset, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemsetD8(device_address(address), (unsigned char)value, bytes);
	return soft_rt_end(&call, status);
}

cudaError_t cudaMemsetAsync(void *address, int value, size_t bytes, cudaStream_t stream)
{
	const struct {
		void *address;
		int value;
		size_t bytes;
		cudaStream_t stream;
	} parameters = {address, value, bytes, stream};
	BEGIN(cudaMemsetAsync, &parameters, NULL);

	if (!status)
		status = soft_rt.cuMemsetD8Async(device_address(address), (unsigned char)value,
						 bytes, stream);
	return soft_rt_end(&call, status);
}

/* Streams and events -------------------------------------------------------------------- */

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	const struct {
		cudaStream_t *stream;
	} parameters = {stream};
	BEGIN(cudaStreamCreate, &parameters, NULL);

	if (!status)
		status = soft_rt.cuStreamCreate(stream, 0);
	return soft_rt_end(&call, status);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	const struct {
		cudaStream_t *stream;
		unsigned int flags;
	} parameters = {stream, flags};
	BEGIN(cudaStreamCreateWithFlags, &parameters, NULL);

	if (!status)
		status = soft_rt.cuStreamCreate(stream, flags);
	return soft_rt_end(&call, status);
}

/* Functions that pass on their only argument. */
#define PASS_ON(function, type, driver)                    \
	cudaError_t function(type argument)                \
	{                                                  \
		const struct {                             \
			type argument;                     \
		} parameters = {argument};                 \
		BEGIN(function, &parameters, NULL);        \
                                                           \
		if (!status)                               \
			status = soft_rt.driver(argument); \
		return soft_rt_end(&call, status);         \
	}
PASS_ON(cudaStreamDestroy, cudaStream_t, cuStreamDestroy)
PASS_ON(cudaStreamSynchronize, cudaStream_t, cuStreamSynchronize)
PASS_ON(cudaStreamQuery, cudaStream_t, cuStreamQuery)
PASS_ON(cudaEventDestroy, cudaEvent_t, cuEventDestroy)
PASS_ON(cudaEventSynchronize, cudaEvent_t, cuEventSynchronize)
PASS_ON(cudaEventQuery, cudaEvent_t, cuEventQuery)

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	const struct {
		cudaStream_t stream;
		cudaEvent_t event;
		unsigned int flags;
	} parameters = {stream, event, flags};
	BEGIN(cudaStreamWaitEvent, &parameters, NULL);

	if (!status)
		status = soft_rt.cuStreamWaitEvent(stream, event, flags);
	return soft_rt_end(&call, status);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	const struct {
		cudaEvent_t *event;
	} parameters = {event};
	BEGIN(cudaEventCreate, &parameters, NULL);

	if (!status)
		status = soft_rt.cuEventCreate(event, 0);
	return soft_rt_end(&call, status);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	const struct {
		cudaEvent_t *event;
		unsigned int flags;
	} parameters = {event, flags};
	BEGIN(cudaEventCreateWithFlags, &parameters, NULL);

	if (!status)
		status = soft_rt.cuEventCreate(event, flags);
	return soft_rt_end(&call, status);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	const struct {
		cudaEvent_t event;
		cudaStream_t stream;
	} parameters = {event, stream};
	BEGIN(cudaEventRecord, &parameters, NULL);

	if (!status)
		status = soft_rt.cuEventRecord(event, stream);
	return soft_rt_end(&call, status);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
	const struct {
		float *milliseconds;
		cudaEvent_t start, end;
	} parameters = {milliseconds, start, end};
	BEGIN(cudaEventElapsedTime, &parameters, NULL);

	if (!status)
		status = soft_rt.cuEventElapsedTime(milliseconds, start, end);
	return soft_rt_end(&call, status);
}

/* Kernels ------------------------------------------------------------------------------- */

enum { IMAGES = 8, KERNELS = 32 };

struct image {
	const char *file;
	CUmodule module; /* NULL until the first launch loads the module */
};

static struct image images[IMAGES];
static unsigned image_count;
static struct kernel {
	struct image *image;
	const void *function; /* address of the function in the program */
	const char *name;
	CUfunction handle;
} kernels[KERNELS];
static unsigned kernel_count;

/* Needs no lock: it runs before main(), or with the dynamic linker's lock held. */
void **__cudaRegisterFatBinary(void *image)
{
	struct image *i = image_count < IMAGES ? &images[image_count++] : NULL;

	if (i)
		i->file = image;
	return (void **)i;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

void __cudaRegisterFunction(void **handle, const char *function, char *device_function,
			    const char *name, int threads, void *thread, void *block,
			    void *block_size, void *grid_size, int *warp)
{
	(void)device_function, (void)threads, (void)thread, (void)block;
	(void)block_size, (void)grid_size, (void)warp;
	if (handle && kernel_count < KERNELS)
		kernels[kernel_count++] = (struct kernel){.image = (void *)handle,
							  .function = function,
							  .name = name};
}

static struct kernel *find_kernel(const void *function)
{
	for (unsigned i = 0; i < kernel_count; i++)
		if (kernels[i].function == function)
			return &kernels[i];
	return NULL;
}

static const char *name_of(const void *function)
{
	const struct kernel *k = find_kernel(function);

	return k ? k->name : NULL;
}

static cudaError_t load(struct kernel *k)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	cudaError_t status = cudaSuccess;

	pthread_mutex_lock(&lock);
	if (!k->image->module)
		status = soft_rt.cuModuleLoad(&k->image->module, k->image->file);
	if (!status && !k->handle)
		status = soft_rt.cuModuleGetFunction(&k->handle, k->image->module, k->name);
	pthread_mutex_unlock(&lock);
	return status;
}

static cudaError_t launch(const void *function, dim3 grid, dim3 block, void **arguments,
			  size_t shared, cudaStream_t stream)
{
	struct kernel *k = find_kernel(function);
	cudaError_t status = k ? load(k) : cudaErrorInvalidDeviceFunction;

	return status ? status
		      : soft_rt.cuLaunchKernel(k->handle, grid.x, grid.y, grid.z, block.x, block.y,
					       block.z, (unsigned int)shared, stream, arguments,
					       NULL);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
			     size_t shared, cudaStream_t stream)
{
	const struct {
		const void *function;
		dim3 grid, block;
		void **arguments;
		size_t shared;
		cudaStream_t stream;
	} parameters = {function, grid, block, arguments, shared, stream};
	BEGIN(cudaLaunchKernel, &parameters, name_of(function));

	if (!status)
		status = launch(function, grid, block, arguments, shared, stream);
	return soft_rt_end(&call, status);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
				void **arguments)
{
	const struct {
		const cudaLaunchConfig_t *config;
		const void *function;
		void **arguments;
	} parameters = {config, function, arguments};
	BEGIN(cudaLaunchKernelExC, &parameters, name_of(function));

	if (!status)
		status = launch(function, config->gridDim, config->blockDim, arguments,
				config->dynamicSmemBytes, config->stream);
	return soft_rt_end(&call, status);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
	const struct {
		cudaStream_t stream;
		cudaHostFn_t function;
		void *data;
	} parameters = {stream, function, data};
	BEGIN(cudaLaunchHostFunc, &parameters, NULL);

	if (!status)
		status = soft_rt.cuLaunchHostFunc(stream, function, data);
	return soft_rt_end(&call, status);
}
