/* SPDX-License-Identifier: MIT */
/* Manages the submit orders of HIP's streams with AMD_DIRECT_DISPATCH=0 (see runtime/submit_order.h
 * for the steps and rules).
 *
 *   order: | oldest call | .. | newest |      one per stream, looked up by the stream's handle or,
 *           ▲                  ▲              for default streams, by device or thread
 *           │ the stream's thread takes calls
 *           the program's threads add calls
 *
 * To associate threads with streams, libgputap-audit.so redirects the library's calls of
 * pthread_create() to this file. A thread that HIP creates during an open call works for the stream
 * that the call creates, or for the default stream that the call is the first to use.
 *
 * An order is reused when its stream is being destroyed, its thread has ended, the order contains
 * no call, and all of its packets have been handled.
 *
 * Locks: one for each order; one for unused entries, taken inside an order's lock; gt_core_lock()
 * for the table of orders and their `users`, never together with an order's lock. Locks are
 * acceptable, because this mode is not performance-critical. */
#include "runtime/hip/hip_order_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/recording.h"

int gt_hip_thread_create(pthread_t *thread, const pthread_attr_t *attributes,
			 void *(*begin)(void *), void *argument);

enum { BUCKETS = 64 };
#define PER_THREAD ((uintptr_t)2) /* hipStreamPerThread */

/* The open call of this thread. */
static _Thread_local struct {
	struct gt_submit_order *order;
	struct gt_ordered_call *entry;
	struct gt_stream_thread *born; /* threads that HIP created in this call, newest first */
	/* number of calls added to the order so far, including this call */
	uint64_t pushes;
	bool alone; /* true if no other call was open when this call started */
	/* true if all earlier calls in the order have been submitted when this call returns */
	bool blocking;
	bool making; /* true if the call may create a thread for its stream */
} call __attribute__((tls_model("initial-exec")));

static struct gt_submit_order *buckets[BUCKETS], *unused_orders;

static struct gt_submit_order **get_order_bucket(uintptr_t handle, uintptr_t whose)
{
	return &buckets[(handle ^ whose << 7) * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

/* Create an order. The caller holds the core lock. */
static struct gt_submit_order *make_order(uintptr_t handle, uintptr_t whose)
{
	struct gt_submit_order *l = unused_orders, **bucket = get_order_bucket(handle, whose);

	if (l)
		unused_orders = l->next;
	else
		l = gt_arena_take(sizeof *l);
	if (!l)
		return NULL;
	memset(l, 0, sizeof *l);
	l->handle = handle;
	l->whose = whose;
	l->last = &l->first;
	if (handle != GT_ORDER_NO_STREAM) {
		l->next = *bucket;
		*bucket = l;
	}
	return l;
}

/* Return the order with one more user. The caller must call free_if_unused() later. */
static struct gt_submit_order *borrow_order(uintptr_t handle, uintptr_t whose)
{
	struct gt_submit_order *l;

	gt_core_lock();
	for (l = *get_order_bucket(handle, whose);
	     l && (l->gone || l->handle != handle || l->whose != whose); l = l->next)
		;
	if (!l)
		l = make_order(handle, whose);
	if (l)
		l->users++;
	gt_core_unlock();
	return l;
}

/* Subtract @users from the order's users, and free the order if unused. */
static void free_if_unused(struct gt_submit_order *l, uint32_t users)
{
	struct gt_submit_order **at;
	bool nobodys;

	gt_core_lock();
	l->users -= users;
	nobodys = l->gone && !l->users;
	for (at = get_order_bucket(l->handle, l->whose); nobodys && *at && *at != l;
	     at = &(*at)->next)
		;
	/* false if another thread has found the order unused at the same time */
	nobodys = nobodys && *at == l;
	if (nobodys)
		*at = l->next;
	gt_core_unlock();
	if (!nobodys)
		return;
	gt_submit_order_lock(&l->lock);
	nobodys = atomic_load_explicit(&l->handled, memory_order_relaxed) == l->reserved;
	if (nobodys)
		gt_submit_order_drop_before(l, NULL);
	gt_submit_order_unlock(&l->lock);
	if (!nobodys)
		return; /* a packet still refers to the order */
	gt_core_lock();
	l->next = unused_orders;
	unused_orders = l;
	gt_core_unlock();
}

/* The program's side -------------------------------------------------------------- */

static bool is_capturing(const struct gt_table *table, uintptr_t stream)
{
	unsigned int status = 0;

	return stream > PER_THREAD && GT_HIP(table, hipStreamIsCapturing) &&
	       GT_HIP(table, hipStreamIsCapturing)((void *)stream, &status) == 0 && status != 0;
}

static struct gt_submit_order *get_order(const struct gt_table *table, struct gt_thread *t,
					 uintptr_t stream, bool own)
{
	int device = 0;

	if (stream == PER_THREAD || (own && !stream))
		return borrow_order(PER_THREAD, (uintptr_t)t);
	if (stream > PER_THREAD)
		return borrow_order(stream, 0);
	if (GT_HIP(table, hipGetDevice) && GT_HIP(table, hipGetDevice)(&device) != 0)
		return NULL;
	return borrow_order(0, (uintptr_t)device);
}

static struct gt_ordered_call *add_call(const struct gt_table *table, struct gt_thread *t,
					struct gt_submit_call c)
{
	struct gt_submit_order *l;
	struct gt_ordered_call *e = NULL;

	gt_hip_order_begin_stream();
	if (atomic_load_explicit(&gt_submit_order_given_up, memory_order_relaxed))
		gt_submit_order_report_unlinked(
			t, "some calls were not seen, or launched kernels on unknown streams");
	if (is_capturing(table, c.stream))
		return NULL;
	l = get_order(table, t, c.stream, c.own);
	if (!l)
		return NULL;
	gt_submit_order_lock(&l->lock);
	call.order = l;
	call.pushes = ++l->pushes;
	call.alone = !l->calls_open++;
	if (!l->broken) {
		e = gt_ordered_call_take();
		if (!e)
			gt_submit_order_break(l, "no memory for calls of a stream");
	}
	if (e) {
		e->kind = c.kind;
		e->plain = c.plain;
		e->id = t->api_id;
		e->paused = !gt_launches_are_recorded(GT_DOMAIN_HSA_CORE);
		e->start = t->api_start;
		e->thread = t;
		if (!gt_submit_order_append(l, e)) {
			gt_ordered_call_free(e);
			e = NULL;
		}
	}
	call.entry = e;
	call.blocking = c.kind == GT_SUBMIT_SYNC ||
			(c.blocking && c.kind == GT_SUBMIT_COPY && t->api_bytes &&
			 t->api_direction == GT_HIP_DEVICE_TO_HOST);
	return call.entry;
}

void gt_submit_order_add_call(struct gt_thread *t, const struct gt_table *table,
			      struct gt_submit_call c)
{
	uint32_t name =
		c.kind == GT_SUBMIT_LAUNCH
			? gt_hip_function_name(table, t, (const void *)c.function, c.by_pointer)
			: 0;
	struct gt_ordered_call *e = add_call(table, t, c);

	if (e) {
		e->name = name;
		e->bytes = t->api_bytes;
		e->source = t->api_source;
		e->destination = t->api_destination;
		e->direction = t->api_direction;
	}
	if (call.order)
		gt_submit_order_unlock(&call.order->lock);
}

void gt_hip_order_add_launch(struct gt_thread *t, const struct gt_table *table,
			     const struct gt_hip_ordered_launch *launch)
{
	struct gt_ordered_call *e =
		add_call(table, t,
			 (struct gt_submit_call){.kind = GT_SUBMIT_GRAPH,
						 .own = launch->own,
						 .stream = (uintptr_t)launch->stream});

	if (e) {
		e->nodes = launch->nodes;
		e->graph = launch->graph;
		e->replay = launch->replay;
		e->name = launch->name;
		e->handle = launch->handle;
		e->last_part = GT_GRAPH_PARTS;
		e->apart = launch->apart;
	} else {
		gt_hip_shared_nodes_put(launch->nodes);
	}
	if (call.order)
		gt_submit_order_unlock(&call.order->lock);
}

void gt_hip_order_note_submitted(uint32_t at, bool transfer)
{
	if (!call.entry)
		return;
	if (transfer)
		atomic_store_explicit(&call.entry->mixed, true, memory_order_relaxed);
	atomic_store_explicit(&call.entry->issued, at, memory_order_release);
}

void gt_hip_order_end_launch(bool kernels, bool all, bool part)
{
	struct gt_submit_order *l = call.order;
	struct gt_ordered_call *e = call.entry;

	if (!e)
		return;
	gt_submit_order_lock(&l->lock);
	e->no_kernels = kernels;
	if (all && !e->popped)
		e->state = GT_CALL_MATCHED;
	if (part)
		gt_submit_order_break(l, "two threads submitted a graph's launch");
	gt_submit_order_unlock(&l->lock);
}

/* Settle the order after a call that waited for its stream. All earlier calls have submitted their
 * activities, unless another call was open when the wait started. */
static void settle_order(struct gt_submit_order *l, const struct gt_ordered_call *e)
{
	if (!call.alone || l->pushes != call.pushes)
		return;
	if (e && !e->popped)
		gt_submit_order_drop_before(l, e->next);
	l->broken = l->lost;
}

void gt_submit_order_end_call(struct gt_thread *t, uint64_t status)
{
	struct gt_submit_order *l = call.order;

	(void)t;
	if (l) {
		gt_submit_order_lock(&l->lock);
		l->calls_open--;
		if (call.entry)
			gt_submit_order_remove_open(l, call.entry);
		if (call.blocking && !status)
			settle_order(l, call.entry);
		/* the call failed, and it is unknown whether it submitted anything */
		if (call.entry && status && call.entry->kind != GT_SUBMIT_SYNC)
			gt_submit_order_break(l, "a call failed");
		if (call.entry)
			gt_ordered_call_close(call.entry);
		gt_submit_order_unlock(&l->lock);
		free_if_unused(l, 1);
	}
	call.entry = NULL;
	call.order = NULL;
	call.making = false;
}

void gt_submit_order_give_up(struct gt_thread *t)
{
	atomic_store_explicit(&gt_submit_order_given_up, 1, memory_order_relaxed);
	gt_submit_order_report_unlinked(t, "a call launched kernels on unknown streams");
}

/* HIP's threads -------------------------------------------------------------------- */

static void *begin_thread(void *data)
{
	struct gt_stream_thread *b = data;
	void *result;

	gt_thread.submit_order = b->order;
	result = b->begin(b->argument);
	gt_thread.submit_order = NULL;
	atomic_store_explicit(&b->ended, 1, memory_order_release);
	if (b->order)
		free_if_unused(b->order, 1);
	return result;
}

/* Return the only running thread that HIP created in this call. (HIP's first thread belongs to no
 * stream. It makes a measurement and is joined at once.) */
static struct gt_stream_thread *only_born(void)
{
	struct gt_stream_thread *only = NULL;

	for (struct gt_stream_thread *b = call.born; b; b = b->next)
		if (!atomic_load_explicit(&b->ended, memory_order_acquire)) {
			if (only)
				return NULL;
			only = b;
		}
	return only;
}

/* If this call is the first to use the default stream, return that stream's order, otherwise a new
 * order. */
static struct gt_submit_order *make_order_for_thread(void)
{
	struct gt_submit_order *l =
		call.order && call.order->handle <= PER_THREAD ? call.order : NULL;

	if (l && (!l->bound || (call.born && call.born->order == l))) {
		if (call.born && !atomic_load_explicit(&call.born->ended, memory_order_acquire))
			/* two threads exist, and it is unknown which of them is the stream's */
			l->broken = l->lost = true;
		l->bound = true;
		return l;
	}
	gt_core_lock();
	l = make_order(GT_ORDER_NO_STREAM, 0);
	gt_core_unlock();
	return l;
}

/* Replacement for pthread_create() in the library. HIP creates a default stream's thread in the
 * first call that uses the stream, and any other stream's thread in the call that creates the
 * stream. */
__attribute__((visibility("hidden"), used)) int gt_hip_thread_create(
	pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *), void *argument)
{
	struct gt_submit_order *order =
		gt_tap_options.submit_orders && call.making ? make_order_for_thread() : NULL;
	struct gt_stream_thread *b = order && !order->birth.begin ? &order->birth
				     : order                      ? gt_arena_take(sizeof *b)
								  : NULL;
	int status;

	if (!b)
		return pthread_create(thread, attributes, begin, argument);
	*b = (struct gt_stream_thread){.next = call.born,
				       .begin = begin,
				       .argument = argument,
				       .order = order};
	gt_core_lock();
	order->users++;
	gt_core_unlock();
	status = pthread_create(thread, attributes, begin_thread, b);
	if (!status)
		call.born = b;
	else
		free_if_unused(order, 1);
	return status;
}

void gt_hip_order_begin_stream(void)
{
	call.order = NULL;
	call.entry = NULL;
	call.born = NULL;
	call.making = true;
}

void gt_hip_order_bind_stream(void *handle)
{
	struct gt_stream_thread *b = only_born();
	struct gt_submit_order **bucket = get_order_bucket((uintptr_t)handle, 0);

	call.born = NULL;
	call.making = false;
	if (!b || !b->order)
		return;
	/* ends a former stream with this handle whose destruction was not recorded */
	gt_hip_order_destroy_stream(handle);
	gt_core_lock();
	b->order->handle = (uintptr_t)handle;
	b->order->next = *bucket;
	*bucket = b->order;
	gt_core_unlock();
}

void gt_hip_order_destroy_stream(void *handle)
{
	struct gt_submit_order *found = NULL;

	gt_core_lock();
	for (struct gt_submit_order *l = *get_order_bucket((uintptr_t)handle, 0); l; l = l->next)
		if (l->handle == (uintptr_t)handle && !l->gone) {
			l->gone = true;
			l->users++;
			found = l;
		}
	gt_core_unlock();
	if (found)
		free_if_unused(found, 1);
}

/* Note a call of the program that could not be added to an order. */
static void miss_call(void)
{
	atomic_store_explicit(&gt_submit_order_given_up, 1, memory_order_relaxed);
}

GT_AT_START_CODE void gt_hip_order_configure(void)
{
	const char *value = getenv("AMD_DIRECT_DISPATCH");
	const struct gt_session *session = gt_recording.session;

	if (value && *value && !atoi(value) && strcmp(value, "true") && session &&
	    session->device_activity && session->domains >> GT_DOMAIN_HIP & 1) {
		atomic_store_explicit(&gt_thread_hooks.call_missed, miss_call,
				      memory_order_release);
		gt_tap_options.submit_orders = 1;
	}
}
