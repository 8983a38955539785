/* SPDX-License-Identifier: MIT */
/* Attributes of addresses, host memory that the program registers, and managed memory. The host and
 * all devices can reach managed memory, so prefetches and advice have no effect. */
#include "soft/cuda/cuda_parts.h"

static void *host_address(CUdeviceptr address)
{
	return (void *)(uintptr_t)address;
}

/* Numbers are those of CUpointer_attribute. Returns false for an unknown number. */
static bool get_attribute(const struct soft_cu_allocation *a, CUdeviceptr address, int attribute,
			  void *value)
{
	enum {
		CONTEXT = 1,
		MEMORY_TYPE = 2,
		DEVICE_POINTER = 3,
		HOST_POINTER = 4,
		BUFFER_ID = 7,
		IS_MANAGED = 8,
		DEVICE_ORDINAL = 9,
		RANGE_START = 11,
		RANGE_BYTES = 12,
		MAPPED = 13,
		POOL = 17,
	};

	switch (attribute) {
	case CONTEXT: *(CUcontext *)value = a->context; break;
	case MEMORY_TYPE:
		*(int *)value = a->is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		break;
	case DEVICE_POINTER: *(CUdeviceptr *)value = address; break;
	case HOST_POINTER:
		*(void **)value = a->is_host || a->is_managed ? host_address(address) : NULL;
		break;
	case BUFFER_ID: *(uint64_t *)value = (uintptr_t)a; break;
	case IS_MANAGED: *(int *)value = a->is_managed; break;
	case DEVICE_ORDINAL: *(int *)value = a->context->device; break;
	case RANGE_START: *(void **)value = a->address; break;
	case RANGE_BYTES: *(size_t *)value = a->bytes; break;
	case MAPPED: *(int *)value = 1; break;
	case POOL: *(CUmemoryPool *)value = a->pool; break;
	default: return false;
	}
	return true;
}

int soft_cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address)
{
	const struct soft_cu_allocation *a;
	const int status = value ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;
	bool done;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	a = soft_cu_find_allocation(host_address(address), 1);
	done = a && get_attribute(a, address, attribute, value);
	return soft_cu_leave(done ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* Succeed even for an address outside all allocations: the context, memory type, addresses, range
 * and pool are then 0, and the device ordinal is -2. */
int soft_cuPointerGetAttributes(unsigned int count, int *attributes, void **values,
				CUdeviceptr address)
{
	static const struct soft_cu_context nowhere = {.device = -2};
	const struct soft_cu_allocation none = {.context = (CUcontext)(uintptr_t)&nowhere};
	const struct soft_cu_allocation *a;
	int status = (attributes && values) || !count ? soft_cu_check_driver()
						      : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	a = soft_cu_find_allocation(host_address(address), 1);
	for (unsigned i = 0; !status && i < count; i++) {
		if (!get_attribute(a ? a : &none, a ? address : 0, attributes[i], values[i]))
			status = CUDA_ERROR_INVALID_VALUE;
		else if (!a && attributes[i] == 1)
			*(CUcontext *)values[i] = NULL;
		else if (!a && attributes[i] == 2)
			*(int *)values[i] = 0;
	}
	return soft_cu_leave(status);
}

/* Registered memory ------------------------------------------------------------------- */

int soft_cuMemHostRegister_v2(void *address, size_t bytes, unsigned int flags)
{
	CUcontext context;
	const int status = soft_cu_enter(&context);

	return status ? status
		      : soft_cu_leave(soft_cu_register_memory(context, address, bytes, flags));
}

int soft_cuMemHostUnregister(void *address)
{
	CUcontext context;
	const int status = soft_cu_enter(&context);

	if (status)
		return status;
	soft_cu_drain_context(context);
	return soft_cu_leave(soft_cu_unregister_memory(address) ? CUDA_SUCCESS
								: CUDA_ERROR_INVALID_VALUE);
}

int soft_cuMemHostGetFlags(unsigned int *flags, void *address)
{
	const struct soft_cu_allocation *a;
	CUcontext context;
	const int status = flags ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	a = soft_cu_find_allocation(address, 1);
	if (a && a->is_host)
		*flags = a->flags;
	return soft_cu_leave(a && a->is_host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* Managed memory ----------------------------------------------------------------------- */

static bool is_managed(CUdeviceptr address, size_t bytes)
{
	const struct soft_cu_allocation *a =
		bytes ? soft_cu_find_allocation(host_address(address), bytes) : NULL;

	return a && a->is_managed;
}

static int prefetch(CUdeviceptr address, size_t bytes, CUstream stream, bool per_thread)
{
	struct soft_cu_task *task;
	struct soft_cu_stream *s;
	CUcontext context;
	const int status = soft_cu_enter(&context);

	if (status)
		return status;
	s = soft_cu_find_stream(context, stream, per_thread);
	if (!s || !is_managed(address, bytes))
		return soft_cu_leave(s ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
	task = soft_cu_make_task(SOFT_CU_TASK_NOTHING);
	return soft_cu_leave(task ? soft_cu_submit(s, task, false) : CUDA_ERROR_OUT_OF_MEMORY);
}

SOFT_CU_BOTH(cuMemPrefetchAsync, _ptsz,
	     (CUdeviceptr address, size_t bytes, CUdevice device __attribute__((unused)),
	      CUstream stream),
	     prefetch(address, bytes, stream, per_thread))
SOFT_CU_BOTH(cuMemPrefetchAsync_v2, _ptsz,
	     (CUdeviceptr address, size_t bytes, CUmemLocation location __attribute__((unused)),
	      unsigned int flags __attribute__((unused)), CUstream stream),
	     prefetch(address, bytes, stream, per_thread))

static int advise(CUdeviceptr address, size_t bytes)
{
	CUcontext context;
	const int status = soft_cu_enter(&context);

	return status ? status
		      : soft_cu_leave(is_managed(address, bytes) ? CUDA_SUCCESS
								 : CUDA_ERROR_INVALID_VALUE);
}

int soft_cuMemAdvise(CUdeviceptr address, size_t bytes, int advice __attribute__((unused)),
		     CUdevice device __attribute__((unused)))
{
	return advise(address, bytes);
}

int soft_cuMemAdvise_v2(CUdeviceptr address, size_t bytes, int advice __attribute__((unused)),
			CUmemLocation location __attribute__((unused)))
{
	return advise(address, bytes);
}
