/* SPDX-License-Identifier: MIT */
/* Internals of streams: a queue of tasks, and a thread that runs them in order. cuda_parts.h
 * defines when tasks of different streams wait for each other. */
#include <stdlib.h>
#include <string.h>

#include "soft/common/bell.h"
#include "soft/common/clock.h"
#include "soft/common/guard.h"
#include "soft/cuda/cuda_parts.h"

/* Tasks --------------------------------------------------------------------------- */

/* Set rows of elements. */
static void set_elements(const struct soft_cu_task *t)
{
	for (size_t y = 0; y < (t->rows ? t->rows : 1); y++)
		for (size_t i = 0; i < t->bytes; i++)
			memcpy((char *)t->to + y * t->to_pitch + i * t->width, &t->value, t->width);
}

static void copy_rows(const struct soft_cu_task *t)
{
	for (size_t z = 0; z < (t->slices ? t->slices : 1); z++)
		for (size_t y = 0; y < (t->rows ? t->rows : 1); y++)
			memmove((char *)t->to + z * t->to_slice + y * t->to_pitch,
				(char *)(t->staged ? t->staged : t->from) + z * t->from_slice +
					y * t->from_pitch,
				t->bytes);
}

struct guarded {
	const struct soft_cu_task *task;
	int status;
};

static void do_guarded(void *data)
{
	struct guarded *g = data;
	const struct soft_cu_task *t = g->task;

	switch (t->kind) {
	case SOFT_CU_TASK_COPY: copy_rows(t); break;
	case SOFT_CU_TASK_SET: set_elements(t); break;
	case SOFT_CU_TASK_KERNEL: g->status = soft_cu_run_kernel(t); break;
	default: break;
	}
}

static void raise_event(CUevent event, uint64_t number, int status)
{
	if (event->done >= number)
		return;
	event->done = number;
	event->host_ns = soft_clock_host_ns();
	event->status = status;
}

static int do_graph(const struct soft_cu_task *t);

/* Run a task. Call without the lock. @failed: the context's status before the task. Return its new
 * status. */
static int do_task(const struct soft_cu_task *t, int failed)
{
	struct guarded g = {t, CUDA_SUCCESS};
	uint64_t address;

	if (t->kind == SOFT_CU_TASK_HOST)
		t->host(t->data);
	else if (t->kind == SOFT_CU_TASK_CALLBACK)
		t->callback(t->stream, failed, t->data);
	else if (t->kind == SOFT_CU_TASK_FREE)
		free(t->to);
	else if (t->kind == SOFT_CU_TASK_GRAPH)
		return failed ? CUDA_SUCCESS : do_graph(t);
	else if (!failed && !soft_guard_call(do_guarded, &g, &address))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	return g.status;
}

/* Run a task, and trace it if requested. Call without the lock. Return the context's new status. */
static int do_traced(struct soft_cu_task *t, int failed)
{
	const struct soft_cu_tool *tool = t->is_traced && !failed ? soft_cu_get_tool() : NULL;
	int status;

	if (!tool)
		return do_task(t, failed);
	t->activity.start = tool->now();
	status = do_task(t, failed);
	t->activity.end = tool->now();
	if (!status)
		tool->end_activity(&t->activity);
	return status;
}

/* Run the tasks of a graph. Its events become visible one by one, while the graph runs. */
static int do_graph(const struct soft_cu_task *graph)
{
	int status = CUDA_SUCCESS;

	for (struct soft_cu_task *t = graph->graph; t && !status; t = t->next) {
		if (t->kind == SOFT_CU_TASK_RECORD || t->kind == SOFT_CU_TASK_WAIT) {
			pthread_mutex_lock(&soft_cu_lock);
			while (t->kind == SOFT_CU_TASK_WAIT && t->event->done < t->event_number)
				pthread_cond_wait(&soft_cu_changed, &soft_cu_lock);
			raise_event(t->event, t->event_number, CUDA_SUCCESS);
			pthread_cond_broadcast(&soft_cu_changed);
			pthread_mutex_unlock(&soft_cu_lock);
		} else {
			status = do_traced(t, CUDA_SUCCESS);
		}
	}
	return status;
}

/* Order --------------------------------------------------------------------------- */

static bool has_earlier(const struct soft_cu_stream *s, uint64_t number)
{
	return s->first && s->first->number < number;
}

/* Return true if the stream's first task may start. Call with the lock held. */
static bool may_begin(const struct soft_cu_stream *s)
{
	const struct soft_cu_context *c = s->context;
	const struct soft_cu_task *t = s->first;

	if (t->kind == SOFT_CU_TASK_WAIT && t->event->done < t->event_number)
		return false;
	if (s->flags & CU_STREAM_NON_BLOCKING)
		return true;
	if (s != &c->legacy)
		return !has_earlier(&c->legacy, t->number);
	for (const struct soft_cu_stream *other = c->streams; other; other = other->next)
		if (!(other->flags & CU_STREAM_NON_BLOCKING) && has_earlier(other, t->number))
			return false;
	return true;
}

static void end_task(struct soft_cu_stream *s, int status)
{
	struct soft_cu_task *t = s->first;

	if (status)
		s->context->failed = status;
	if (t->kind == SOFT_CU_TASK_RECORD)
		raise_event(t->event, t->event_number, s->context->failed);
	s->done = t->number;
	s->first = t->next;
	if (!s->first)
		s->last = NULL;
	soft_cu_discard_task(t);
	pthread_cond_broadcast(&soft_cu_changed);
}

static void *serve_stream(void *data)
{
	struct soft_cu_stream *s = data;

	pthread_mutex_lock(&soft_cu_lock);
	while (s->first || !s->is_closing) {
		int failed = s->context->failed, status;

		if (!s->first || !may_begin(s)) {
			pthread_cond_wait(&soft_cu_changed, &soft_cu_lock);
			continue;
		}
		pthread_mutex_unlock(&soft_cu_lock);
		status = do_traced(s->first, failed);
		pthread_mutex_lock(&soft_cu_lock);
		end_task(s, status);
	}
	s->has_thread = false;
	pthread_cond_broadcast(&soft_cu_changed);
	pthread_mutex_unlock(&soft_cu_lock);
	return NULL;
}

/* Stop waiting. The stream may be freed once the lock is released. */
static void end_waiting(struct soft_cu_stream *s)
{
	if (!--s->waiters)
		pthread_cond_broadcast(&soft_cu_changed);
}

int soft_cu_submit(struct soft_cu_stream *s, struct soft_cu_task *t, bool waits)
{
	CUcontext context = s->context;
	uint64_t number;
	pthread_t thread;

	if (t->kind == SOFT_CU_TASK_WAIT && t->event->capture && !s->capture &&
	    soft_cu_knows_capture(t->event->capture))
		s->capture = t->event->capture;
	if (s->capture)
		return soft_cu_capture_task(s, t, waits);
	if (!s->has_thread) {
		if (soft_thread_start(&thread, "soft-cuda", serve_stream, s)) {
			soft_cu_discard_task(t);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
		pthread_detach(thread);
		s->has_thread = true;
	}
	number = t->number = ++context->numbers;
	soft_cu_trace_task(s, t);
	for (struct soft_cu_task *node = t->graph; node; node = node->next) {
		soft_cu_trace_task(s, node);
		if (node->kind == SOFT_CU_TASK_RECORD)
			node->event_number = ++node->event->recorded;
		else if (node->kind == SOFT_CU_TASK_WAIT)
			node->event_number = node->event->recorded;
	}
	if (s->last)
		s->last->next = t;
	else
		s->first = t;
	s->last = t;
	pthread_cond_broadcast(&soft_cu_changed);
	if (waits) {
		s->waiters++;
		while (s->done < number)
			pthread_cond_wait(&soft_cu_changed, &soft_cu_lock);
		end_waiting(s);
	}
	return waits ? context->failed : CUDA_SUCCESS;
}

void soft_cu_drain_stream(struct soft_cu_stream *s)
{
	s->waiters++;
	while (s->first)
		pthread_cond_wait(&soft_cu_changed, &soft_cu_lock);
	end_waiting(s);
}

/* Wait for all tasks, including tasks submitted meanwhile. */
void soft_cu_drain_context(CUcontext context)
{
	struct soft_cu_stream *s = &context->legacy;

	while (s) {
		if (s->first) {
			soft_cu_drain_stream(s);
			s = &context->legacy; /* the list may have changed */
		} else {
			s = s == &context->legacy ? context->streams : s->next;
		}
	}
}

void soft_cu_close_stream(struct soft_cu_stream *s)
{
	s->is_closing = true;
	pthread_cond_broadcast(&soft_cu_changed);
	while (s->has_thread || s->waiters)
		pthread_cond_wait(&soft_cu_changed, &soft_cu_lock);
}

/* Free a stream, and end a capture that this stream started. A later EndCapture then returns an
 * error. */
void soft_cu_free_stream(struct soft_cu_stream *s)
{
	if (s->capture && s->capture->origin == s) {
		soft_cu_free_graph(s->capture->graph);
		soft_cu_end_capture(s->capture);
	}
	free(s->last_nodes.at);
	free(s);
}

void soft_cu_close_streams(CUcontext context)
{
	soft_cu_close_stream(&context->legacy);
	while (context->streams) {
		struct soft_cu_stream *s = context->streams;

		soft_cu_close_stream(s);
		context->streams = s->next;
		soft_cu_free_stream(s);
	}
}

/* Handles ------------------------------------------------------------------------- */

struct soft_cu_stream *soft_cu_make_stream(CUcontext context, unsigned flags, int priority,
					   uint64_t owner)
{
	struct soft_cu_stream *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	*s = (struct soft_cu_stream){.context = context,
				     .next = context->streams,
				     .flags = flags,
				     .id = soft_cu_new_stream_id(),
				     .priority = priority,
				     .owner = owner};
	context->streams = s;
	soft_cu_note_resource(&(struct soft_cu_resource_notice){
		.what = SOFT_CU_STREAM_CREATED,
		.context = context,
		.context_id = context->id,
		.device = context->device,
		.handle = owner ? CU_STREAM_PER_THREAD : s,
		.stream_id = s->id,
	});
	return s;
}

/* NEEDSWORK: a thread's default stream stays until its context is destroyed. */
static struct soft_cu_stream *find_own(CUcontext context)
{
	static _Thread_local uint64_t self;
	static uint64_t threads;

	self = self ? self : ++threads;
	for (struct soft_cu_stream *s = context->streams; s; s = s->next)
		if (s->owner == self)
			return s;
	return soft_cu_make_stream(context, 0, 0, self);
}

struct soft_cu_stream *soft_cu_find_stream(CUcontext context, CUstream handle, bool per_thread)
{
	if (handle == CU_STREAM_PER_THREAD || (!handle && per_thread))
		return find_own(context);
	if (!handle || handle == CU_STREAM_LEGACY)
		return &context->legacy;
	for (struct soft_cu_stream *s = context->streams; s; s = s->next)
		if (s == handle)
			return s;
	return NULL;
}
