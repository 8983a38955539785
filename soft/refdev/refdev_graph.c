/* SPDX-License-Identifier: MIT */
/* A graph is a list of tasks that are not submitted. An executable graph is a copy that has a
 * number. Each launch submits copies of the tasks, which contain the numbers of their node and
 * launch. */
#include <stdlib.h>

#include "soft/refdev/refdev_parts.h"

struct refdevGraphExec {
	struct refdevGraphExec *next;
	uint64_t number;
	struct ref_task *first;
	uint32_t count, launches;
	bool gone;
};

/* never freed, because profilers query executable graphs even after their destruction */
static struct refdevGraphExec *executables;
static pthread_mutex_t executables_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t last_number;

static refdevError_t create(refdevGraph_t *graph)
{
	if (!graph)
		return refdevErrorInvalid;
	*graph = ref_graph_make();
	return *graph ? refdevSuccess : refdevErrorNoMemory;
}

refdevError_t refdevGraphCreate(refdevGraph_t *graph)
{
	REF_RUNTIME(create(graph));
}

static refdevError_t add_kernel(refdevGraph_t graph, refdevKernel_t kernel, refdevDim3 grid,
				refdevDim3 block, const void *arguments, size_t bytes)
{
	if (!graph || !kernel || bytes > REF_ARGUMENT_BYTES || (bytes && !arguments) || !grid.x ||
	    !grid.y || !grid.z || !block.x || !block.y || !block.z)
		return refdevErrorInvalid;
	return ref_graph_add(graph, ref_task_kernel(kernel, grid, block, arguments, bytes));
}

refdevError_t refdevGraphAddKernelNode(refdevGraph_t graph, refdevKernel_t kernel, refdevDim3 grid,
				       refdevDim3 block, const void *arguments, size_t bytes)
{
	REF_RUNTIME(add_kernel(graph, kernel, grid, block, arguments, bytes));
}

refdevError_t refdevGraphAddMemcpyNode(refdevGraph_t graph, void *to, const void *from,
				       size_t bytes, refdevMemcpyKind kind)
{
	REF_RUNTIME(!graph || !to || !from
			    ? refdevErrorInvalid
			    : ref_graph_add(graph,
					    ref_task_copy(to, bytes, from, bytes, bytes, 1, kind)));
}

refdevError_t refdevGraphAddMemsetNode(refdevGraph_t graph, void *to, int value, size_t bytes)
{
	REF_RUNTIME(!graph || !to
			    ? refdevErrorInvalid
			    : ref_graph_add(graph, ref_task_fill(to, bytes, value, bytes, 1)));
}

static refdevError_t begin_capture(refdevStream_t stream)
{
	refdevError_t status = refdevErrorCapture;
	refdevGraph_t graph;

	if (!stream) /* all threads share the device's own stream */
		return refdevErrorInvalid;
	graph = ref_graph_make();
	if (!graph)
		return refdevErrorNoMemory;
	pthread_mutex_lock(&stream->lock);
	if (!stream->capture) {
		stream->capture = graph;
		status = refdevSuccess;
	}
	pthread_mutex_unlock(&stream->lock);
	if (status)
		free(graph);
	return status;
}

refdevError_t refdevStreamBeginCapture(refdevStream_t stream)
{
	REF_RUNTIME(begin_capture(stream));
}

static refdevError_t end_capture(refdevStream_t stream, refdevGraph_t *graph)
{
	if (!stream || !graph)
		return refdevErrorInvalid;
	pthread_mutex_lock(&stream->lock);
	*graph = stream->capture;
	stream->capture = NULL;
	pthread_mutex_unlock(&stream->lock);
	return *graph ? refdevSuccess : refdevErrorCapture;
}

refdevError_t refdevStreamEndCapture(refdevStream_t stream, refdevGraph_t *graph)
{
	REF_RUNTIME(end_capture(stream, graph));
}

static refdevError_t destroy(refdevGraph_t graph)
{
	if (!graph)
		return refdevErrorInvalid;
	ref_graph_free(graph);
	return refdevSuccess;
}

refdevError_t refdevGraphDestroy(refdevGraph_t graph)
{
	REF_RUNTIME(destroy(graph));
}

static refdevError_t instantiate(refdevGraphExec_t *out, refdevGraph_t graph)
{
	refdevGraphExec_t e;
	struct ref_task **last;

	if (!out || !graph)
		return refdevErrorInvalid;
	e = calloc(1, sizeof *e);
	if (!e)
		return refdevErrorNoMemory;
	last = &e->first;
	pthread_mutex_lock(&graph->lock);
	for (const struct ref_task *t = graph->first; t; t = t->next, last = &(*last)->next) {
		*last = ref_task_clone(t);
		if (!*last)
			break;
		(*last)->about.node = e->count++;
	}
	pthread_mutex_unlock(&graph->lock);
	if (e->count != graph->count) {
		ref_tasks_free(e->first);
		free(e);
		return refdevErrorNoMemory;
	}
	pthread_mutex_lock(&executables_lock);
	e->number = ++last_number;
	e->next = executables;
	executables = e;
	pthread_mutex_unlock(&executables_lock);
	*out = e;
	return refdevSuccess;
}

refdevError_t refdevGraphInstantiate(refdevGraphExec_t *exec, refdevGraph_t graph)
{
	REF_RUNTIME(instantiate(exec, graph));
}

refdevError_t ref_graph_launch(refdevGraphExec_t exec, struct refdevStream *s)
{
	uint32_t replay = __atomic_add_fetch(&exec->launches, 1, __ATOMIC_RELAXED);
	refdevError_t status = refdevSuccess;

	for (const struct ref_task *t = exec->first; t && !status; t = t->next) {
		struct ref_task *copy = ref_task_clone(t);

		if (!copy)
			return refdevErrorNoMemory;
		copy->about.graph = exec->number;
		copy->about.replay = replay;
		status = ref_submit(s, copy);
	}
	return status;
}

static refdevError_t launch(refdevGraphExec_t exec, refdevStream_t stream)
{
	struct refdevStream *s = exec && !exec->gone ? ref_stream_of(stream) : NULL;

	if (!s)
		return refdevErrorInvalid;
	if (ref_fails(REF_FAULT_LAUNCH))
		return refdevErrorDevice;
	return ref_graph_launch(exec, s);
}

refdevError_t refdevDrvGraphLaunch(refdevGraphExec_t exec, refdevStream_t stream)
{
	REF_DRIVER(launch(exec, stream));
}

refdevError_t refdevGraphLaunch(refdevGraphExec_t exec, refdevStream_t stream)
{
	REF_RUNTIME(refdevDrvGraphLaunch(exec, stream));
}

static refdevError_t destroy_exec(refdevGraphExec_t exec)
{
	if (!exec || exec->gone)
		return refdevErrorInvalid;
	exec->gone = true;
	ref_tasks_free(exec->first);
	exec->first = NULL;
	return refdevSuccess;
}

refdevError_t refdevGraphExecDestroy(refdevGraphExec_t exec)
{
	REF_RUNTIME(destroy_exec(exec));
}

uint32_t refdevGraphNodeCount(uint64_t graph)
{
	uint32_t count = 0;

	pthread_mutex_lock(&executables_lock);
	for (const struct refdevGraphExec *e = executables; e && !count; e = e->next)
		if (e->number == graph)
			count = e->count;
	pthread_mutex_unlock(&executables_lock);
	return count;
}
