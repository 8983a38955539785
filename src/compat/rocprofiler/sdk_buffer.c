/* SPDX-License-Identifier: MIT */
/* Implements buffers and their delivery threads with gputap's buffers. Records are delivered
 * unchanged, with headers that are created on delivery. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "sdk.h"

enum { SUBSCRIBERS = 64 };

struct sdk_buffer {
	uint64_t handle; /* 0: free */
	uint64_t context;
	uint32_t client;
	struct gputap_buffer *tap;
	_Atomic(rocprofiler_buffer_tracing_cb_t) fn; /* NULL once the client is finalised */
	void *user;
	/* used only in the delivering thread */
	size_t room;
	rocprofiler_record_header_t *headers;
	rocprofiler_record_header_t **list;
};

static struct sdk_buffer buffers[SDK_BUFFERS];
static uint64_t handles = SDK_FIRST_HANDLE;

struct sdk_buffer *sdk_buffer_of(rocprofiler_buffer_id_t id)
{
	for (int i = 0; id.handle && i < SDK_BUFFERS; i++)
		if (__atomic_load_n(&buffers[i].handle, __ATOMIC_ACQUIRE) == id.handle)
			return &buffers[i];
	return NULL;
}

void sdk_buffer_write(struct sdk_buffer *b, rocprofiler_buffer_tracing_kind_t kind,
		      const void *record, size_t bytes, bool last)
{
	gputap_buffer_write(b->tap,
			    rocprofiler_record_header_compute_hash(
				    ROCPROFILER_BUFFER_CATEGORY_TRACING, (uint32_t)kind),
			    record, bytes, last);
}

/* Make room for @count headers. */
static bool make_header_room(struct sdk_buffer *b, size_t count)
{
	if (count <= b->room)
		return true;
	free(b->headers);
	free(b->list);
	b->room = 0;
	b->headers = malloc(count * sizeof *b->headers);
	b->list = malloc(count * sizeof *b->list);
	if (!b->headers || !b->list)
		return false;
	b->room = count;
	return true;
}

struct record_batch {
	struct sdk_buffer *buffer;
	rocprofiler_buffer_tracing_cb_t fn;
	size_t count;
	uint64_t lost;
};

static void call_client(void *data)
{
	const struct record_batch *batch = data;
	const struct sdk_buffer *b = batch->buffer;

	batch->fn((rocprofiler_context_id_t){b->context}, (rocprofiler_buffer_id_t){b->handle},
		  b->list, batch->count, b->user, batch->lost);
}

static void hand_records(struct gputap_buffer *buffer, const struct gputap_record *records,
			 size_t count, uint64_t lost, void *user)
{
	struct sdk_buffer *b = user;
	struct record_batch batch = {b, atomic_load(&b->fn), count, lost};

	(void)buffer;
	if (!count || !batch.fn)
		return;
	if (!make_header_room(b, count)) {
		sdk_report("%zu records of a buffer are lost: no memory for their headers", count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		b->headers[i].hash = records[i].kind;
		b->headers[i].payload = (void *)(uintptr_t)records[i].payload;
		b->list[i] = &b->headers[i];
	}
	if (!sdk_guarded(call_client, &batch))
		sdk_report("the callback of buffer %lu threw an exception: %zu records were not "
			   "delivered",
			   (unsigned long)b->handle, count);
}

SDK_EXPORT rocprofiler_status_t rocprofiler_create_buffer(rocprofiler_context_id_t context,
							  size_t size, size_t watermark,
							  rocprofiler_buffer_policy_t policy,
							  rocprofiler_buffer_tracing_cb_t callback,
							  void *callback_data,
							  rocprofiler_buffer_id_t *buffer_id)
{
	struct gputap_buffer_opts opts = {.size = sizeof opts,
					  .bytes = size,
					  .watermark = watermark < size ? watermark : size};
	struct sdk_buffer *b = NULL;
	struct sdk_context *c;

	if (sdk_may_configure() != ROCPROFILER_STATUS_SUCCESS)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (!(c = sdk_context_of(context)))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (!size || !callback ||
	    (policy != ROCPROFILER_BUFFER_POLICY_DISCARD &&
	     policy != ROCPROFILER_BUFFER_POLICY_LOSSLESS))
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	sdk_lock();
	for (int i = 0; i < SDK_BUFFERS && !b; i++)
		if (!buffers[i].handle && !buffers[i].tap)
			b = &buffers[i];
	if (b) {
		opts.policy = policy == ROCPROFILER_BUFFER_POLICY_LOSSLESS ? GPUTAP_BUFFER_LOSSLESS
									   : GPUTAP_BUFFER_DISCARD;
		opts.fn = hand_records;
		opts.user = b;
		b->context = c->handle;
		b->client = c->client;
		atomic_store(&b->fn, callback);
		b->user = callback_data;
		b->tap = NULL;
	}
	sdk_unlock();
	if (!b || gputap_buffer_create(&opts, &b->tap) != 0)
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	sdk_lock();
	buffer_id->handle = handles++;
	__atomic_store_n(&b->handle, buffer_id->handle, __ATOMIC_RELEASE);
	sdk_unlock();
	return ROCPROFILER_STATUS_SUCCESS;
}

bool sdk_buffer_is_of(const struct sdk_buffer *b, const struct sdk_context *c)
{
	return b->context == c->handle;
}

/* Destroy a buffer. Stop the context first, because an active context writes into the buffer. */
SDK_EXPORT rocprofiler_status_t rocprofiler_destroy_buffer(rocprofiler_buffer_id_t buffer_id)
{
	struct sdk_buffer *b = sdk_buffer_of(buffer_id);
	struct gputap_buffer *tap;

	if (!b)
		return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	for (int i = 0; i < SDK_CONTEXTS; i++)
		for (int k = 0;
		     atomic_load(&sdk_contexts[i].active) && k < ROCPROFILER_BUFFER_TRACING_LAST;
		     k++)
			if (sdk_contexts[i].recorded[k].buffer == b)
				return ROCPROFILER_STATUS_ERROR_BUFFER_BUSY;
	tap = b->tap;
	if (gputap_buffer_destroy(tap) != 0)
		return ROCPROFILER_STATUS_ERROR_BUFFER_BUSY;
	__atomic_store_n(&b->handle, 0, __ATOMIC_RELEASE);
	b->tap = NULL;
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_flush_buffer(rocprofiler_buffer_id_t buffer_id)
{
	struct sdk_buffer *b = sdk_buffer_of(buffer_id);

	if (atomic_load(&sdk_finalized) == SDK_DONE)
		return ROCPROFILER_STATUS_ERROR_FINALIZED;
	if (!b)
		return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	return gputap_buffer_flush(b->tap) == 0 ? ROCPROFILER_STATUS_SUCCESS
						: ROCPROFILER_STATUS_ERROR_BUFFER_BUSY;
}

void sdk_buffers_drop(const struct sdk_context *c)
{
	for (int i = 0; i < SDK_BUFFERS; i++)
		if (buffers[i].handle && sdk_buffer_is_of(&buffers[i], c)) {
			/* the finalised client may have freed the data that its function reads */
			atomic_store(&buffers[i].fn, NULL);
			gputap_buffer_destroy(buffers[i].tap);
			__atomic_store_n(&buffers[i].handle, 0, __ATOMIC_RELEASE);
			buffers[i].tap = NULL;
		}
}

/* Threads ---------------------------------------------------------------------------- */

static struct {
	rocprofiler_internal_thread_library_cb_t before, after;
	void *user;
} subscribers[SUBSCRIBERS];
static _Atomic int subscriber_count;

static void before(void *user)
{
	(void)user;
	for (int i = 0; i < atomic_load(&subscriber_count); i++)
		if (subscribers[i].before)
			subscribers[i].before(ROCPROFILER_LIBRARY, subscribers[i].user);
}

static void notify_thread_started(void *user)
{
	(void)user;
	for (int i = 0; i < atomic_load(&subscriber_count); i++)
		if (subscribers[i].after)
			subscribers[i].after(ROCPROFILER_LIBRARY, subscribers[i].user);
}

static void subscribe_to_threads(void)
{
	gputap_thread_subscribe(before, notify_thread_started, NULL);
}

void sdk_threads_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, subscribe_to_threads);
}

SDK_EXPORT rocprofiler_status_t rocprofiler_at_internal_thread_create(
	rocprofiler_internal_thread_library_cb_t precreate,
	rocprofiler_internal_thread_library_cb_t postcreate, int libs, void *data)
{
	rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	int n;

	if (atomic_load(&sdk_initialized) == SDK_DONE)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (libs && !(libs & ROCPROFILER_LIBRARY))
		/* all reported threads belong to this library, because clients are not notified of
		 * the runtimes' threads */
		return ROCPROFILER_STATUS_SUCCESS;
	sdk_threads_init();
	sdk_lock();
	n = atomic_load(&subscriber_count);
	if (n < SUBSCRIBERS) {
		subscribers[n].before = precreate;
		subscribers[n].after = postcreate;
		subscribers[n].user = data;
		atomic_store(&subscriber_count, n + 1);
		status = ROCPROFILER_STATUS_SUCCESS;
	}
	sdk_unlock();
	return status;
}

/* The handle of a thread is its index among gputap's delivery threads. */
SDK_EXPORT rocprofiler_status_t
rocprofiler_create_callback_thread(rocprofiler_callback_thread_t *cb_thread_id)
{
	struct gputap_delivery *delivery;

	if (sdk_may_configure() != ROCPROFILER_STATUS_SUCCESS)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (gputap_delivery_create(&delivery) != 0)
		return ROCPROFILER_STATUS_ERROR;
	cb_thread_id->handle = (uintptr_t)delivery;
	return ROCPROFILER_STATUS_SUCCESS;
}

SDK_EXPORT rocprofiler_status_t rocprofiler_assign_callback_thread(
	rocprofiler_buffer_id_t buffer_id, rocprofiler_callback_thread_t cb_thread_id)
{
	struct sdk_buffer *b = sdk_buffer_of(buffer_id);

	if (sdk_may_configure() != ROCPROFILER_STATUS_SUCCESS)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (!b)
		return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	return cb_thread_id.handle &&
			       gputap_buffer_assign(b->tap, (struct gputap_delivery *)(uintptr_t)
								    cb_thread_id.handle) == 0
		       ? ROCPROFILER_STATUS_SUCCESS
		       : ROCPROFILER_STATUS_ERROR_THREAD_NOT_FOUND;
}
