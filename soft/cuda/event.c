/* SPDX-License-Identifier: MIT */
/* Events: each recording has a number, which the stream's thread stores when it reaches that
 * recording.
 * An event that was never recorded counts as done. */
#include <stdlib.h>

#include "soft/cuda/cuda_parts.h"

int soft_cuEventCreate(CUevent *event, unsigned int flags)
{
	CUcontext context;
	const int status = event ? soft_cu_enter(&context) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*event = calloc(1, sizeof **event);
	if (*event)
		**event = (struct soft_cu_event){.flags = flags, .uses = 1};
	return soft_cu_leave(*event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

int soft_cuEventDestroy_v2(CUevent event)
{
	const int status = event ? soft_cu_check_driver() : CUDA_ERROR_INVALID_HANDLE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	soft_cu_release_event(event);
	return soft_cu_leave(CUDA_SUCCESS);
}

static int submit_event(enum soft_cu_kind kind, CUevent event, CUstream stream, bool per_thread)
{
	struct soft_cu_task *task = soft_cu_make_task(kind);
	struct soft_cu_stream *s;
	CUcontext context;
	int status = event ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;

	if (!status)
		status = task ? soft_cu_enter(&context) : CUDA_ERROR_OUT_OF_MEMORY;
	if (status) {
		free(task);
		return status;
	}
	s = soft_cu_find_stream(context, stream, per_thread);
	if (!s) {
		free(task);
		return soft_cu_leave(CUDA_ERROR_INVALID_HANDLE);
	}
	task->event = event;
	if (kind == SOFT_CU_TASK_RECORD)
		event->capture = NULL;
	task->event_number = kind == SOFT_CU_TASK_RECORD ? ++event->recorded : event->recorded;
	event->uses++;
	return soft_cu_leave(soft_cu_submit(s, task, false));
}

SOFT_CU_BOTH(cuEventRecord, _ptsz, (CUevent event, CUstream stream),
	     submit_event(SOFT_CU_TASK_RECORD, event, stream, per_thread))
SOFT_CU_BOTH(cuStreamWaitEvent, _ptsz,
	     (CUstream stream, CUevent event, unsigned int flags __attribute__((unused))),
	     submit_event(SOFT_CU_TASK_WAIT, event, stream, per_thread))

SOFT_CU_BOTH(cuEventRecordWithFlags, _ptsz,
	     (CUevent event, CUstream stream, unsigned int flags __attribute__((unused))),
	     submit_event(SOFT_CU_TASK_RECORD, event, stream, per_thread))

static int await_event(CUevent event, bool waits)
{
	int status = event ? soft_cu_check_driver() : CUDA_ERROR_INVALID_HANDLE;

	if (status)
		return status;
	pthread_mutex_lock(&soft_cu_lock);
	event->uses++; /* meanwhile, another thread may destroy the event */
	while (waits && event->done < event->recorded)
		pthread_cond_wait(&soft_cu_changed, &soft_cu_lock);
	status = event->done < event->recorded ? CUDA_ERROR_NOT_READY : event->status;
	soft_cu_release_event(event);
	return soft_cu_leave(status);
}

int soft_cuEventQuery(CUevent event)
{
	return await_event(event, false);
}

int soft_cuEventSynchronize(CUevent event)
{
	return await_event(event, true);
}

int soft_cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
	int status = milliseconds ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	if (!start || !end || (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&soft_cu_lock);
	if (!start->recorded || !end->recorded)
		status = CUDA_ERROR_INVALID_HANDLE;
	else if (start->done < start->recorded || end->done < end->recorded)
		status = CUDA_ERROR_NOT_READY;
	else
		*milliseconds = (float)(int64_t)(end->host_ns - start->host_ns) / 1e6f;
	return soft_cu_leave(status);
}

int soft_cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
	return soft_cuEventElapsedTime(milliseconds, start, end);
}
