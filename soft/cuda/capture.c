/* SPDX-License-Identifier: MIT */
/* Internals of stream capture. During a capture, a submitted task becomes a node that depends on
 * the stream's previous node. Waiting for an event recorded in the capture adds the waiting stream
 * to the capture. All functions are called with the driver's lock held. */
#include <stdlib.h>
#include <string.h>

#include "soft/cuda/cuda_parts.h"

static int invalidate(struct soft_cu_stream *s, struct soft_cu_task *t, int status)
{
	s->capture->is_invalid = true;
	soft_cu_discard_task(t);
	return status;
}

/* Record an event: store the stream's last nodes in it, without making a node. */
static int capture_record(struct soft_cu_stream *s, struct soft_cu_task *t)
{
	CUevent event = t->event;

	event->recorded--; /* no stream's thread will raise the event to this number */
	event->capture = s->capture;
	event->nodes.count = 0;
	if (!soft_cu_append_nodes(&event->nodes, s->last_nodes.at, s->last_nodes.count))
		return invalidate(s, t, CUDA_ERROR_OUT_OF_MEMORY);
	soft_cu_discard_task(t);
	return CUDA_SUCCESS;
}

static int find_type(const struct soft_cu_task *t)
{
	switch (t->kind) {
	case SOFT_CU_TASK_KERNEL: return CU_GRAPH_NODE_TYPE_KERNEL;
	case SOFT_CU_TASK_COPY: return CU_GRAPH_NODE_TYPE_MEMCPY;
	case SOFT_CU_TASK_SET: return CU_GRAPH_NODE_TYPE_MEMSET;
	case SOFT_CU_TASK_HOST: return CU_GRAPH_NODE_TYPE_HOST;
	default: return -1;
	}
}

/* Wait for an event of the same capture. The stream then belongs to the capture. */
static int capture_wait(struct soft_cu_stream *s, struct soft_cu_task *t)
{
	const CUevent event = t->event;

	if (event->capture != s->capture)
		return invalidate(s, t, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	if (!soft_cu_append_nodes(&s->last_nodes, event->nodes.at, event->nodes.count))
		return invalidate(s, t, CUDA_ERROR_OUT_OF_MEMORY);
	soft_cu_discard_task(t);
	return CUDA_SUCCESS;
}

/* NEEDSWORK: allocations from pools, graphs and callbacks inside a capture are refused. */
int soft_cu_capture_task(struct soft_cu_stream *s, struct soft_cu_task *t, bool waits)
{
	const int type = find_type(t);
	CUgraphNode n;

	if (s->capture->is_invalid)
		return invalidate(s, t, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	if (t->kind == SOFT_CU_TASK_RECORD)
		return capture_record(s, t);
	if (t->kind == SOFT_CU_TASK_WAIT)
		return capture_wait(s, t);
	if (waits || type < 0)
		return invalidate(s, t, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	n = soft_cu_add_node(s->capture->graph, type, t, s->last_nodes.at, s->last_nodes.count);
	if (!n)
		return invalidate(s, t, CUDA_ERROR_OUT_OF_MEMORY);
	s->last_nodes.count = 0;
	return soft_cu_append_nodes(&s->last_nodes, &n, 1) ? CUDA_SUCCESS
							   : CUDA_ERROR_OUT_OF_MEMORY;
}

bool soft_cu_knows_capture(const struct soft_cu_capture *capture)
{
	for (CUcontext c = soft_cu_contexts; c; c = c->next)
		for (const struct soft_cu_stream *s = c->streams; s; s = s->next)
			if (s->capture == capture)
				return true;
	return false;
}

/* Return true if @node is a dependency of another node or of the next task of the stream that
 * started the capture. */
bool soft_cu_is_waited_for(const struct soft_cu_capture *capture, CUgraphNode node)
{
	const struct soft_cu_nodes *last = &capture->origin->last_nodes;

	for (size_t i = 0; i < last->count; i++)
		if (last->at[i] == node)
			return true;
	for (const struct soft_cu_node *n = capture->graph->first; n; n = n->next)
		for (size_t i = 0; i < n->from.count; i++)
			if (n->from.at[i] == node)
				return true;
	return false;
}

/* End a capture. The caller owns the graph. */
void soft_cu_end_capture(struct soft_cu_capture *capture)
{
	for (CUcontext c = soft_cu_contexts; c; c = c->next)
		for (struct soft_cu_stream *s = c->streams; s; s = s->next)
			if (s->capture == capture) {
				s->capture = NULL;
				free(s->last_nodes.at);
				s->last_nodes = (struct soft_cu_nodes){0};
			}
	free(capture);
}
