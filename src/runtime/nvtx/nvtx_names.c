/* SPDX-License-Identifier: MIT */
/* See nvtx_names.h. A thread's name is a separate object. NVTX identifies threads by system thread
 * id, from which the reader finds the thread. Names of CUDA's objects are written with those
 * objects (runtime/cuda.h). */
#include "runtime/nvtx/nvtx_names.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/emit.h"
#include "runtime/cuda.h"

void gt_nvtx_name_thread(uint32_t tid, const char *name)
{
	struct gt_thread *t = gt_thread_own();
	struct gt_text text = {0};

	if (!t || !name || !*name)
		return;
	gt_text_add(&text, "name", name);
	gt_object_write(t, GT_OBJECT_THREAD, GT_DOMAIN_NVTX, GT_THREAD_BY_TID(tid), tid, 0, &text);
}

void gt_nvtx_name_device(int device, const char *name)
{
	struct gt_thread *t = gt_thread_own();

	if (t && name && *name && GT_IS_PROVIDED(gt_cuda_names))
		GT_PROVIDED(gt_cuda_names)->device(t, device, name);
}

void gt_nvtx_name_context(uint64_t handle, const char *name)
{
	struct gt_thread *t = gt_thread_own();

	if (t && name && *name && GT_IS_PROVIDED(gt_cuda_names))
		GT_PROVIDED(gt_cuda_names)->context(t, handle, name);
}

void gt_nvtx_name_stream(uint64_t handle, const char *name)
{
	struct gt_thread *t = gt_thread_own();

	if (t && name && *name && GT_IS_PROVIDED(gt_cuda_names))
		GT_PROVIDED(gt_cuda_names)->stream(t, handle, name);
}

void gt_nvtx_name_event(uint64_t handle, const char *name)
{
	struct gt_thread *t = gt_thread_own();

	if (t && name && *name && GT_IS_PROVIDED(gt_cuda_names))
		GT_PROVIDED(gt_cuda_names)->event(t, handle, name);
}

uint64_t gt_nvtx_name_resource(const struct nvtx_resource_attributes *a, const char *name)
{
	static _Atomic uint64_t newest;

	switch (a->type) {
	case NVTX_RESOURCE_THREAD_NATIVE: gt_nvtx_name_thread((uint32_t)a->identifier, name); break;
	/* only the thread library could map handles of other threads */
	case NVTX_RESOURCE_THREAD_POSIX:
		if (a->identifier == (uint64_t)pthread_self())
			gt_nvtx_name_thread((uint32_t)syscall(SYS_gettid), name);
		break;
	case NVTX_RESOURCE_CUDA_DEVICE:
	case NVTX_RESOURCE_CUDART_DEVICE: gt_nvtx_name_device((int)a->identifier, name); break;
	case NVTX_RESOURCE_CUDA_CONTEXT: gt_nvtx_name_context(a->identifier, name); break;
	case NVTX_RESOURCE_CUDA_STREAM:
	case NVTX_RESOURCE_CUDART_STREAM: gt_nvtx_name_stream(a->identifier, name); break;
	case NVTX_RESOURCE_CUDA_EVENT:
	case NVTX_RESOURCE_CUDART_EVENT: gt_nvtx_name_event(a->identifier, name); break;
	default: break;
	}
	return 1 + atomic_fetch_add_explicit(&newest, 1, memory_order_relaxed);
}
