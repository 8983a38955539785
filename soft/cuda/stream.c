/* SPDX-License-Identifier: MIT */
/* The program's view of streams. */
#include <stdlib.h>

#include "soft/cuda/cuda_parts.h"

/* Returns with the lock held unless it fails. */
static int enter_stream(CUstream handle, bool per_thread, struct soft_cu_stream **stream)
{
	CUcontext context;
	const int status = soft_cu_enter(&context);

	if (status)
		return status;
	*stream = soft_cu_find_stream(context, handle, per_thread);
	return *stream ? CUDA_SUCCESS : soft_cu_leave(CUDA_ERROR_INVALID_HANDLE);
}

int soft_cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
	CUcontext context;
	const int status = stream && !(flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
				   ? soft_cu_enter(&context)
				   : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*stream = soft_cu_make_stream(context, flags, priority, 0);
	return soft_cu_leave(*stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

int soft_cuStreamCreate(CUstream *stream, unsigned int flags)
{
	return soft_cuStreamCreateWithPriority(stream, flags, 0);
}

/* NEEDSWORK: NVIDIA's function returns at once, and the tasks of the stream continue. */
int soft_cuStreamDestroy_v2(CUstream stream)
{
	struct soft_cu_stream *s, **link;
	CUcontext context;
	const int status = stream > CU_STREAM_PER_THREAD ? enter_stream(stream, false, &s)
							 : CUDA_ERROR_INVALID_HANDLE;

	if (status)
		return status;
	soft_cu_drain_stream(s);
	context = s->context;
	pthread_mutex_unlock(&soft_cu_lock);
	soft_cu_notify_resource(&(struct soft_cu_resource_notice){
		.what = SOFT_CU_STREAM_DESTROYED,
		.context = context,
		.context_id = context->id,
		.device = context->device,
		.handle = s,
		.stream_id = s->id,
	});
	pthread_mutex_lock(&soft_cu_lock);
	soft_cu_close_stream(s);
	for (link = &s->context->streams; *link != s;)
		link = &(*link)->next;
	*link = s->next;
	soft_cu_free_stream(s);
	return soft_cu_leave(CUDA_SUCCESS);
}

static int submit_nothing(CUstream stream, bool per_thread)
{
	struct soft_cu_task *task = soft_cu_make_task(SOFT_CU_TASK_NOTHING);
	struct soft_cu_stream *s;
	int status = task ? enter_stream(stream, per_thread, &s) : CUDA_ERROR_OUT_OF_MEMORY;

	if (status) {
		free(task);
		return status;
	}
	return soft_cu_leave(soft_cu_submit(s, task, true));
}

SOFT_CU_BOTH(cuStreamSynchronize, _ptsz, (CUstream stream), submit_nothing(stream, per_thread))

static int query_stream(CUstream stream, bool per_thread)
{
	struct soft_cu_stream *s;
	const int status = enter_stream(stream, per_thread, &s);

	if (!status && s->capture) {
		s->capture->is_invalid = true;
		return soft_cu_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	}
	return status ? status : soft_cu_leave(s->first ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

SOFT_CU_BOTH(cuStreamQuery, _ptsz, (CUstream stream), query_stream(stream, per_thread))

static int get_flags(CUstream stream, unsigned *flags, bool per_thread)
{
	struct soft_cu_stream *s;
	const int status = flags ? enter_stream(stream, per_thread, &s) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*flags = s->flags;
	return soft_cu_leave(CUDA_SUCCESS);
}

SOFT_CU_BOTH(cuStreamGetFlags, _ptsz, (CUstream stream, unsigned int *flags),
	     get_flags(stream, flags, per_thread))

static int get_priority(CUstream stream, int *priority, bool per_thread)
{
	struct soft_cu_stream *s;
	const int status =
		priority ? enter_stream(stream, per_thread, &s) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*priority = s->priority;
	return soft_cu_leave(CUDA_SUCCESS);
}

SOFT_CU_BOTH(cuStreamGetPriority, _ptsz, (CUstream stream, int *priority),
	     get_priority(stream, priority, per_thread))

static int get_context(CUstream stream, CUcontext *context, bool per_thread)
{
	struct soft_cu_stream *s;
	const int status =
		context ? enter_stream(stream, per_thread, &s) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*context = s->context;
	return soft_cu_leave(CUDA_SUCCESS);
}

SOFT_CU_BOTH(cuStreamGetCtx, _ptsz, (CUstream stream, CUcontext *context),
	     get_context(stream, context, per_thread))

static int get_id(CUstream stream, unsigned long long *id, bool per_thread)
{
	struct soft_cu_stream *s;
	const int status = id ? enter_stream(stream, per_thread, &s) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*id = s->id;
	return soft_cu_leave(CUDA_SUCCESS);
}

SOFT_CU_BOTH(cuStreamGetId, _ptsz, (CUstream stream, unsigned long long *id),
	     get_id(stream, id, per_thread))

static int get_device(CUstream stream, CUdevice *device, bool per_thread)
{
	struct soft_cu_stream *s;
	const int status = device ? enter_stream(stream, per_thread, &s) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*device = s->context->device;
	return soft_cu_leave(CUDA_SUCCESS);
}

SOFT_CU_BOTH(cuStreamGetDevice, _ptsz, (CUstream stream, CUdevice *device),
	     get_device(stream, device, per_thread))

static int submit_host(CUstream stream, CUhostFn *host, CUstreamCallback *callback, void *data,
		       bool per_thread)
{
	struct soft_cu_task *task =
		soft_cu_make_task(host ? SOFT_CU_TASK_HOST : SOFT_CU_TASK_CALLBACK);
	struct soft_cu_stream *s;
	int status = host || callback ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	if (!status)
		status = task ? enter_stream(stream, per_thread, &s) : CUDA_ERROR_OUT_OF_MEMORY;
	if (status) {
		free(task);
		return status;
	}
	task->host = host;
	task->callback = callback;
	task->stream = stream;
	task->data = data;
	return soft_cu_leave(soft_cu_submit(s, task, false));
}

SOFT_CU_BOTH(cuLaunchHostFunc, _ptsz, (CUstream stream, CUhostFn *function, void *data),
	     submit_host(stream, function, NULL, data, per_thread))
SOFT_CU_BOTH(cuStreamAddCallback, _ptsz,
	     (CUstream stream, CUstreamCallback *callback, void *data,
	      unsigned int flags __attribute__((unused))),
	     submit_host(stream, NULL, callback, data, per_thread))
