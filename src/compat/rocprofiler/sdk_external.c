/* SPDX-License-Identifier: MIT */
/* Manages external correlation ids: a stack for each context and thread, and the service that
 * requests ids from the client.
 *
 *   context ─► bucket of the thread's number ─► thread {depth, top} ─► values
 *
 * Lookup takes no lock, because threads are never removed, and one load of `top` returns the value
 * that is on top after the last push or pop. Any thread may push and pop for any thread while
 * holding the context's mutex. A thread with an empty stack gets the value that the process's first
 * thread pushed last. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdk.h"

enum { BUCKETS = 256 };

struct thread {
	struct thread *next;
	uint64_t tid;
	_Atomic uint64_t top;
	_Atomic uint32_t depth;
	uint32_t room;
	uint64_t *values;
};

struct sdk_external {
	pthread_mutex_t mutex;
	_Atomic uint64_t by_first; /* last value that the process's first thread pushed */
	_Atomic(struct thread *) buckets[BUCKETS];
};

static struct thread *find_thread(struct sdk_external *e, uint64_t tid)
{
	struct thread *t = atomic_load_explicit(&e->buckets[tid % BUCKETS], memory_order_acquire);

	while (t && t->tid != tid)
		t = t->next;
	return t;
}

uint64_t sdk_external_top(struct sdk_context *c, uint64_t thread)
{
	struct sdk_external *e = __atomic_load_n(&c->external, __ATOMIC_ACQUIRE);
	struct thread *t;

	if (!e)
		return 0;
	t = find_thread(e, thread);
	if (t && atomic_load_explicit(&t->depth, memory_order_acquire))
		return atomic_load_explicit(&t->top, memory_order_relaxed);
	return atomic_load_explicit(&e->by_first, memory_order_relaxed);
}

uint64_t sdk_external_id(struct sdk_context *c, uint64_t thread,
			 rocprofiler_external_correlation_id_request_kind_t kind, int32_t operation,
			 uint64_t correlation, bool *asked)
{
	const rocprofiler_context_id_t id = {c->handle};
	rocprofiler_user_data_t value = {sdk_external_top(c, thread)};
	const uint64_t top = value.value;

	*asked = kind != ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_NONE && c->requests[kind] &&
		 c->request_fn(thread, id, kind, operation, correlation, &value, c->request_user) ==
			 0;
	return *asked ? value.value : top;
}

/* Call with sdk_lock() held. */
static struct sdk_external *external_of(struct sdk_context *c)
{
	if (!c->external) {
		struct sdk_external *e = calloc(1, sizeof *e);

		if (e) {
			pthread_mutex_init(&e->mutex, NULL);
			__atomic_store_n(&c->external, e, __ATOMIC_RELEASE);
		}
	}
	return c->external;
}

static struct thread *add_external_thread(struct sdk_external *e, uint64_t tid)
{
	struct thread *t = find_thread(e, tid);

	if (!t && (t = calloc(1, sizeof *t)) != NULL) {
		t->tid = tid;
		t->next = atomic_load(&e->buckets[tid % BUCKETS]);
		atomic_store_explicit(&e->buckets[tid % BUCKETS], t, memory_order_release);
	}
	return t;
}

static rocprofiler_status_t push_external(struct sdk_external *e, uint64_t tid, uint64_t value)
{
	struct thread *t = add_external_thread(e, tid);
	uint32_t depth;

	if (!t)
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	depth = atomic_load(&t->depth);
	if (depth == t->room) {
		uint32_t room = t->room ? 2 * t->room : 8;
		uint64_t *values = realloc(t->values, room * sizeof *values);

		if (!values)
			return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
		t->values = values;
		t->room = room;
	}
	t->values[depth] = value;
	atomic_store_explicit(&t->top, value, memory_order_relaxed);
	atomic_store_explicit(&t->depth, depth + 1, memory_order_release);
	if (tid == (uint64_t)getpid())
		atomic_store(&e->by_first, value);
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_push_external_correlation_id(
	rocprofiler_context_id_t context, rocprofiler_thread_id_t tid,
	rocprofiler_user_data_t external_correlation_id)
{
	struct sdk_context *c = sdk_context_of(context);
	rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	struct sdk_external *e;

	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (tid < (uint64_t)getpid())
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	sdk_lock();
	e = external_of(c);
	sdk_unlock();
	if (e) {
		pthread_mutex_lock(&e->mutex);
		status = push_external(e, tid, external_correlation_id.value);
		pthread_mutex_unlock(&e->mutex);
	}
	return status;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_pop_external_correlation_id(
	rocprofiler_context_id_t context, rocprofiler_thread_id_t tid,
	rocprofiler_user_data_t *external_correlation_id)
{
	struct sdk_context *c = sdk_context_of(context);
	rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	struct thread *t;
	uint32_t depth;

	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (tid < (uint64_t)getpid() || !c->external)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&c->external->mutex);
	t = find_thread(c->external, tid);
	depth = t ? atomic_load(&t->depth) : 0;
	if (depth) {
		if (external_correlation_id)
			external_correlation_id->value = t->values[depth - 1];
		if (depth > 1)
			atomic_store_explicit(&t->top, t->values[depth - 2], memory_order_relaxed);
		atomic_store_explicit(&t->depth, depth - 1, memory_order_release);
		status = ROCPROFILER_STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&c->external->mutex);
	return status;
}

/* Free the stacks of a dropped context, whose client is no longer called. */
void sdk_external_drop(struct sdk_context *c)
{
	for (int i = 0; c->external && i < BUCKETS; i++)
		for (struct thread *t = atomic_load(&c->external->buckets[i]), *next; t; t = next) {
			next = t->next;
			free(t->values);
			free(t);
		}
	free(c->external);
	c->external = NULL;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_configure_external_correlation_id_request_service(
	rocprofiler_context_id_t context_id,
	const rocprofiler_external_correlation_id_request_kind_t *kinds, size_t kinds_count,
	rocprofiler_external_correlation_id_request_cb_t callback, void *callback_args)
{
	rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
	struct sdk_context *c;

	if (sdk_may_configure() != ROCPROFILER_STATUS_SUCCESS)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (!(c = sdk_context_of(context_id)))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (!kinds != !kinds_count || !callback)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	for (size_t i = 0; i < kinds_count; i++)
		if ((int)kinds[i] <= 0 || kinds[i] >= ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST)
			return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
	sdk_lock();
	if (!c->requests_configured) {
		c->requests_configured = true;
		c->request_fn = callback;
		c->request_user = callback_args;
		for (int i = 1; !kinds_count && i < ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST;
		     i++)
			c->requests[i] = true;
		for (size_t i = 0; i < kinds_count; i++)
			c->requests[kinds[i]] = true;
		status = ROCPROFILER_STATUS_SUCCESS;
	}
	sdk_unlock();
	return status;
}
