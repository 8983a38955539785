/* SPDX-License-Identifier: MIT */
/* Tasks: a stream runs tasks one after the other, and a graph is a list of tasks. This file calls
 * no function of the other files. */
#include <stdlib.h>
#include <string.h>

#include "soft/refdev/refdev_parts.h"

void ref_event_put(refdevEvent_t event)
{
	if (event && __atomic_sub_fetch(&event->users, 1, __ATOMIC_ACQ_REL) == 0) {
		pthread_mutex_destroy(&event->lock);
		pthread_cond_destroy(&event->changed);
		free(event);
	}
}

void ref_task_free(struct ref_task *task)
{
	ref_event_put(task->event);
	free(task);
}

static struct ref_task *make_task(enum ref_task_kind kind, refdevActivityKind about, size_t bytes)
{
	struct ref_task *t = calloc(1, sizeof *t + bytes);

	if (!t)
		return NULL;
	t->kind = kind;
	t->about.size = sizeof t->about;
	t->about.kind = about;
	t->argument_bytes = bytes;
	return t;
}

struct ref_task *ref_task_clone(const struct ref_task *task)
{
	size_t bytes = sizeof *task + task->argument_bytes;
	struct ref_task *t = malloc(bytes);

	if (!t)
		return NULL;
	memcpy(t, task, bytes);
	t->next = NULL;
	if (t->event)
		__atomic_add_fetch(&t->event->users, 1, __ATOMIC_RELAXED);
	return t;
}

struct ref_task *ref_task_kernel(refdevKernel_t kernel, refdevDim3 grid, refdevDim3 block,
				 const void *arguments, size_t bytes)
{
	struct ref_task *t = make_task(REF_TASK_KERNEL, refdevActivityKernel, bytes);

	if (!t)
		return NULL;
	t->about.name = kernel->name;
	t->about.grid = grid;
	t->about.block = block;
	t->function = kernel->function;
	if (bytes)
		memcpy(t->arguments, arguments, bytes);
	return t;
}

struct ref_task *ref_task_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			       size_t width, size_t height, refdevMemcpyKind kind)
{
	struct ref_task *t = make_task(REF_TASK_COPY, refdevActivityMemcpy, 0);

	if (!t)
		return NULL;
	t->about.bytes = width * height;
	t->about.source = from;
	t->about.destination = to;
	t->about.copy_kind = kind;
	t->to_pitch = to_pitch;
	t->from_pitch = from_pitch;
	t->width = width;
	t->height = height;
	return t;
}

struct ref_task *ref_task_fill(void *to, size_t pitch, int value, size_t width, size_t height)
{
	struct ref_task *t = make_task(REF_TASK_FILL, refdevActivityMemset, 0);

	if (!t)
		return NULL;
	t->about.bytes = width * height;
	t->about.destination = to;
	t->to_pitch = pitch;
	t->width = width;
	t->height = height;
	t->value = value;
	return t;
}

/* Lists ------------------------------------------------------------------------ */

void ref_tasks_free(struct ref_task *t)
{
	while (t) {
		struct ref_task *next = t->next;

		ref_task_free(t);
		t = next;
	}
}

refdevGraph_t ref_graph_make(void)
{
	refdevGraph_t g = calloc(1, sizeof *g);

	if (!g)
		return NULL;
	pthread_mutex_init(&g->lock, NULL);
	g->last = &g->first;
	return g;
}

refdevError_t ref_graph_add(refdevGraph_t graph, struct ref_task *task)
{
	if (!task)
		return refdevErrorNoMemory;
	pthread_mutex_lock(&graph->lock);
	*graph->last = task;
	graph->last = &task->next;
	graph->count++;
	pthread_mutex_unlock(&graph->lock);
	return refdevSuccess;
}

void ref_graph_free(refdevGraph_t graph)
{
	ref_tasks_free(graph->first);
	pthread_mutex_destroy(&graph->lock);
	free(graph);
}
