/* SPDX-License-Identifier: MIT */
/* Connects the runtime to the driver as NVIDIA's runtime does: at the first call it uses dlopen(),
 * and cuGetProcAddress_v2() for every function. The context of each thread is the primary context
 * of its chosen device.
 * Locking: `lock` around one-time initialisation. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "soft/cuda/cudart/cudart_parts.h"

enum { VERSION = 13000, DEVICES = 8 };

struct soft_rt_driver soft_rt;
_Thread_local cudaError_t soft_rt_last;

static _Thread_local int chosen;
static _Thread_local bool has_context;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext contexts[DEVICES];
static int state = -1; /* status of the driver; -1: not queried yet; atomic */

static bool find(void *function, const char *name)
{
	unsigned int found;

	return !soft_rt.cuGetProcAddress_v2(name, function, VERSION, 0, &found);
}

static int open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	CUuuid tools;

	if (!library)
		return cudaErrorInitializationError;
	*(void **)&soft_rt.cuGetProcAddress_v2 = dlsym(library, "cuGetProcAddress_v2");
	if (!soft_rt.cuGetProcAddress_v2)
		return cudaErrorInitializationError;
#define X(name, form)                    \
	if (!find(&soft_rt.name, #name)) \
		return cudaErrorInitializationError;
	SOFT_RT_DRIVER(X)
#undef X
	memcpy(tools.bytes, SOFT_CU_TOOLS_ID, sizeof tools.bytes);
	if (soft_rt.cuGetExportTable((const void **)&soft_rt.tools, &tools))
		return cudaErrorInitializationError;
	return soft_rt.cuInit(0);
}

static cudaError_t reach_driver(void)
{
	int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	if (now >= 0)
		return now;
	pthread_mutex_lock(&lock);
	if (state < 0)
		__atomic_store_n(&state, open_driver(), __ATOMIC_RELEASE);
	now = state;
	pthread_mutex_unlock(&lock);
	return now;
}

cudaError_t soft_rt_choose_device(int device)
{
	int count = 0, status = soft_rt.cuDeviceGetCount(&count);

	if (!status && (device < 0 || device >= count || device >= DEVICES))
		status = cudaErrorInvalidDevice;
	if (status)
		return status;
	pthread_mutex_lock(&lock);
	if (!contexts[device])
		status = soft_rt.cuDevicePrimaryCtxRetain(&contexts[device], device);
	pthread_mutex_unlock(&lock);
	if (!status)
		status = soft_rt.cuCtxSetCurrent(contexts[device]);
	if (!status) {
		chosen = device;
		has_context = true;
	}
	return status;
}

/* Start a call. The first call also initialises the runtime. If the driver then loads a tool, that
 * tool is not notified of the start of this call. */
cudaError_t soft_rt_begin(struct soft_rt_call *call, uint32_t number, const char *name,
			  const void *parameters, const char *symbol)
{
	const bool is_first = __atomic_load_n(&state, __ATOMIC_ACQUIRE) < 0;
	cudaError_t status = reach_driver();

	*call = (struct soft_rt_call){.call = {.domain = SOFT_CU_RUNTIME_CALLS,
					       .number = number,
					       .name = name,
					       .parameters = parameters,
					       .symbol = symbol}};
	if (!is_first && soft_rt.tools)
		call->is_seen = soft_rt.tools->begin_call(&call->call);
	if (!status && !has_context)
		status = soft_rt_choose_device(chosen);
	return status;
}

cudaError_t soft_rt_end(struct soft_rt_call *call, cudaError_t status)
{
	if (status && status != cudaErrorNotReady)
		soft_rt_last = status;
	if (call->is_seen)
		soft_rt.tools->end_call(&call->call, &status);
	return status;
}
