/* SPDX-License-Identifier: MIT */
/* Tasks as objects. A stream runs tasks, and each node of a graph keeps a task that launches
 * copy. */
#include <stdlib.h>
#include <string.h>

#include "soft/cuda/cuda_parts.h"

struct soft_cu_task *soft_cu_make_task(enum soft_cu_kind kind)
{
	struct soft_cu_task *t = calloc(1, sizeof *t);

	if (t)
		t->kind = kind;
	return t;
}

void soft_cu_release_event(CUevent event)
{
	if (--event->uses)
		return;
	free(event->nodes.at);
	free(event);
}

/* Call with the lock held if the task has an event. */
void soft_cu_discard_task(struct soft_cu_task *t)
{
	while (t->graph) {
		struct soft_cu_task *first = t->graph;

		t->graph = first->next;
		soft_cu_discard_task(first);
	}
	if (t->event)
		soft_cu_release_event(t->event);
	free(t->staged);
	free(t->arguments);
	free(t);
}

/* Copy the current values of the arguments: an array of addresses, followed by the values. */
void **soft_cu_copy_arguments(const struct soft_cuda_parameters *parameters, void **given)
{
	enum { SLOT = 16 };
	size_t bytes = parameters->count * sizeof(void *);
	char *at;
	void **out;

	bytes = (bytes + SLOT - 1) & ~(size_t)(SLOT - 1);
	for (uint32_t i = 0; i < parameters->count; i++)
		bytes += (parameters->bytes[i] + SLOT - 1u) & ~(SLOT - 1u);
	out = malloc(bytes ? bytes : 1);
	if (!out)
		return NULL;
	at = (char *)out + ((parameters->count * sizeof(void *) + SLOT - 1) & ~(size_t)(SLOT - 1));
	for (uint32_t i = 0; i < parameters->count; i++) {
		memcpy(at, given[i], parameters->bytes[i]);
		out[i] = at;
		at += (parameters->bytes[i] + SLOT - 1u) & ~(SLOT - 1u);
	}
	return out;
}

struct soft_cu_task *soft_cu_copy_task(const struct soft_cu_task *task)
{
	struct soft_cu_task *t = malloc(sizeof *t);

	if (!t)
		return NULL;
	*t = *task;
	t->next = NULL;
	t->graph = NULL;
	t->staged = NULL;
	t->arguments = NULL;
	if (task->function && task->arguments) {
		t->arguments = soft_cu_copy_arguments(task->function->parameters, task->arguments);
		if (!t->arguments) {
			free(t);
			return NULL;
		}
	}
	if (t->event)
		t->event->uses++;
	return t;
}
