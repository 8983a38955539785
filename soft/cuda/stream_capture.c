/* SPDX-License-Identifier: MIT */
/* The program's view of stream capture. capture.c defines which tasks become nodes. */
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

static int begin_capture(CUstream stream, bool per_thread)
{
	static uint64_t captures;
	struct soft_cu_capture *capture;
	struct soft_cu_stream *s;
	const int status = enter_stream(stream, per_thread, &s);

	if (status)
		return status;
	if (s == &s->context->legacy)
		return soft_cu_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	if (s->capture)
		return soft_cu_leave(CUDA_ERROR_ILLEGAL_STATE);
	capture = calloc(1, sizeof *capture);
	if (!capture)
		return soft_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
	capture->graph = soft_cu_make_graph();
	if (!capture->graph) {
		free(capture);
		return soft_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
	}
	capture->origin = s;
	capture->id = ++captures;
	s->capture = capture;
	s->last_nodes.count = 0;
	return soft_cu_leave(CUDA_SUCCESS);
}

SOFT_CU_BOTH(cuStreamBeginCapture_v2, _ptsz, (CUstream stream, int mode __attribute__((unused))),
	     begin_capture(stream, per_thread))

/* Return true if the stream that started the capture has waited for the last nodes of all other
 * streams. */
static bool is_joined(const struct soft_cu_capture *capture)
{
	for (CUcontext c = soft_cu_contexts; c; c = c->next)
		for (const struct soft_cu_stream *s = c->streams; s; s = s->next) {
			if (s->capture != capture || s == capture->origin)
				continue;
			for (size_t i = 0; i < s->last_nodes.count; i++)
				if (!soft_cu_is_waited_for(capture, s->last_nodes.at[i]))
					return false;
		}
	return true;
}

static int end_capture(CUstream stream, CUgraph *graph, bool per_thread)
{
	struct soft_cu_capture *capture;
	struct soft_cu_stream *s;
	int status = graph ? enter_stream(stream, per_thread, &s) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*graph = NULL;
	capture = s->capture;
	if (!capture)
		return soft_cu_leave(CUDA_ERROR_ILLEGAL_STATE);
	if (capture->origin != s)
		status = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	else if (capture->is_invalid)
		status = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!is_joined(capture))
		status = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	if (status)
		soft_cu_free_graph(capture->graph);
	else
		*graph = capture->graph;
	soft_cu_end_capture(capture);
	return soft_cu_leave(status);
}

SOFT_CU_BOTH(cuStreamEndCapture, _ptsz, (CUstream stream, CUgraph *graph),
	     end_capture(stream, graph, per_thread))

static int find_status(const struct soft_cu_stream *s)
{
	if (!s->capture)
		return CU_STREAM_CAPTURE_STATUS_NONE;
	return s->capture->is_invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
				      : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static int get_info(CUstream stream, int *capture_status, uint64_t *id, CUgraph *graph,
		    const CUgraphNode **from, size_t *count, bool per_thread)
{
	struct soft_cu_stream *s;
	const int status =
		capture_status ? enter_stream(stream, per_thread, &s) : CUDA_ERROR_INVALID_VALUE;

	if (status)
		return status;
	*capture_status = find_status(s);
	if (id)
		*id = s->capture ? s->capture->id : 0;
	if (graph)
		*graph = s->capture ? s->capture->graph : NULL;
	if (from)
		*from = s->last_nodes.at;
	if (count)
		*count = s->last_nodes.count;
	return soft_cu_leave(CUDA_SUCCESS);
}

SOFT_CU_BOTH(cuStreamIsCapturing, _ptsz, (CUstream stream, int *status),
	     get_info(stream, status, NULL, NULL, NULL, NULL, per_thread))
SOFT_CU_BOTH(cuStreamGetCaptureInfo_v2, _ptsz,
	     (CUstream stream, int *status, uint64_t *id, CUgraph *graph, const CUgraphNode **from,
	      size_t *count),
	     get_info(stream, status, id, graph, from, count, per_thread))
SOFT_CU_BOTH(cuStreamGetCaptureInfo_v3, _ptsz,
	     (CUstream stream, int *status, uint64_t *id, CUgraph *graph, const CUgraphNode **from,
	      const CUgraphEdgeData **data, size_t *count),
	     ((void)(data ? *data = NULL : NULL),
	      get_info(stream, status, id, graph, from, count, per_thread)))

/* The mode forbids calls that would break captures of other threads. No call of this driver does
 * so. */
int soft_cuThreadExchangeStreamCaptureMode(int *mode)
{
	static _Thread_local int current;
	const int status = mode ? soft_cu_check_driver() : CUDA_ERROR_INVALID_VALUE;
	int before = current;

	if (status)
		return status;
	current = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}
