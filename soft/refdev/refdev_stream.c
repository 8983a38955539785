/* SPDX-License-Identifier: MIT */
/* A stream is a queue of tasks and a thread that runs them in order. An event is a number that a
 * stream's thread raises when it reaches the event.
 *
 * If recording an event is a stream's last task, a thread that has seen the event done must find
 * the stream idle, and a thread that has seen the stream idle must find the event done. The
 * stream's thread therefore raises the event and becomes idle under the stream's lock.
 *
 * Locking: stream.lock guards queue, busy, ends, failed and capture. event.lock guards the event's
 * members; a thread that holds stream.lock may take it. */
#include <stdlib.h>
#include <string.h>

#include "soft/common/bell.h"
#include "soft/common/guard.h"
#include "soft/refdev/refdev_parts.h"

pthread_mutex_t ref_list_lock = PTHREAD_MUTEX_INITIALIZER;

/* Execution -------------------------------------------------------------------- */

static void run_kernel(void *data)
{
	const struct ref_task *t = data;
	refdevGroup g = {t->about.grid, t->about.block, {0, 0, 0}};

	for (g.index.z = 0; g.index.z < g.grid.z; g.index.z++)
		for (g.index.y = 0; g.index.y < g.grid.y; g.index.y++)
			for (g.index.x = 0; g.index.x < g.grid.x; g.index.x++)
				t->function(&g, t->arguments);
}

static void run_copy(void *data)
{
	const struct ref_task *t = data;

	for (size_t y = 0; y < t->height; y++)
		memmove((char *)t->about.destination + y * t->to_pitch,
			(const char *)t->about.source + y * t->from_pitch, t->width);
}

static void run_fill(void *data)
{
	const struct ref_task *t = data;

	for (size_t y = 0; y < t->height; y++)
		memset((char *)t->about.destination + y * t->to_pitch, t->value, t->width);
}

static void raise_event(struct ref_task *t)
{
	refdevEvent_t e = t->event;

	pthread_mutex_lock(&e->lock);
	if (e->done < t->event_number) {
		e->done = t->event_number;
		e->host_ns = soft_clock_host_ns();
	}
	pthread_cond_broadcast(&e->changed);
	pthread_mutex_unlock(&e->lock);
}

static void wait_for_event(refdevEvent_t e, uint64_t number)
{
	pthread_mutex_lock(&e->lock);
	while (e->done < number)
		pthread_cond_wait(&e->changed, &e->lock);
	pthread_mutex_unlock(&e->lock);
}

static refdevError_t do_task(struct ref_task *t)
{
	void (*run)(void *) = t->kind == REF_TASK_KERNEL ? run_kernel
			      : t->kind == REF_TASK_COPY ? run_copy
							 : run_fill;
	uint64_t address;

	switch (t->kind) {
	case REF_TASK_RECORD: return refdevSuccess; /* serve_stream() raises the event itself */
	case REF_TASK_WAIT: wait_for_event(t->event, t->event_number); return refdevSuccess;
	default:
		if (t->kind == REF_TASK_KERNEL && ref_fails(REF_FAULT_KERNEL))
			return refdevErrorKernel;
		return soft_guard_call(run, t, &address) ? refdevSuccess : refdevErrorKernel;
	}
}

static refdevError_t serve_task(int device, struct ref_task *t)
{
	refdevError_t status;

	t->about.start = ref_ticks(device);
	status = do_task(t);
	t->about.end = ref_ticks(device);
	t->about.status = (int32_t)status;
	if (t->kind != REF_TASK_RECORD)
		ref_tell_completed(t);
	return status;
}

/* Call with the stream's lock held. */
static void end_task(struct refdevStream *s, struct ref_task *t, refdevError_t status)
{
	if (status)
		s->failed = status;
	if (t->kind == REF_TASK_RECORD)
		raise_event(t);
	ref_task_free(t);
	s->busy = false;
	if (!s->first)
		pthread_cond_broadcast(&s->changed);
}

static void *serve_stream(void *data)
{
	struct refdevStream *s = data;
	refdevError_t status;
	struct ref_task *t;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (!s->first && !s->ends)
			pthread_cond_wait(&s->changed, &s->lock);
		t = s->first;
		if (!t)
			break;
		s->first = t->next;
		if (!s->first)
			s->last = &s->first;
		s->busy = true;
		pthread_mutex_unlock(&s->lock);
		status = serve_task(s->device, t);
		pthread_mutex_lock(&s->lock);
		end_task(s, t, status);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Streams ---------------------------------------------------------------------- */

static struct refdevStream *make_stream(int device)
{
	struct refdevStream *s = calloc(1, sizeof *s);
	struct ref_device *d = &ref_devices[device];

	if (!s)
		return NULL;
	s->device = device;
	s->last = &s->first;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	pthread_mutex_lock(&ref_list_lock);
	s->id = (int)++d->stream_count;
	if (soft_thread_start(&s->thread, "refdev stream", serve_stream, s)) {
		d->stream_count--;
		pthread_mutex_unlock(&ref_list_lock);
		free(s);
		return NULL;
	}
	s->next = d->streams;
	d->streams = s;
	pthread_mutex_unlock(&ref_list_lock);
	return s;
}

struct refdevStream *ref_stream_of(refdevStream_t stream)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct ref_device *d = &ref_devices[ref_current_device];
	struct refdevStream *own;

	if (stream)
		return stream;
	own = __atomic_load_n(&d->own, __ATOMIC_ACQUIRE);
	if (own)
		return own;
	pthread_mutex_lock(&lock);
	if (!d->own)
		__atomic_store_n(&d->own, make_stream(ref_current_device), __ATOMIC_RELEASE);
	own = d->own;
	pthread_mutex_unlock(&lock);
	return own;
}

static void set_about(struct ref_task *t, const struct refdevStream *s)
{
	t->about.device = s->device;
	t->about.stream_id = s->id;
	t->about.stream = (refdevStream_t)s;
	t->about.correlation = ref_correlation();
	t->about.queued = ref_ticks(s->device);
}

refdevError_t ref_submit(struct refdevStream *s, struct ref_task *t)
{
	refdevError_t status;

	pthread_mutex_lock(&s->lock);
	if (s->capture) {
		status = ref_graph_add(s->capture, t);
		pthread_mutex_unlock(&s->lock);
		return status;
	}
	pthread_mutex_unlock(&s->lock);
	set_about(t, s);
	if (t->kind != REF_TASK_RECORD)
		ref_tell_submitted(t);
	t->about.submitted = ref_ticks(s->device);
	pthread_mutex_lock(&s->lock);
	*s->last = t;
	s->last = &t->next;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return refdevSuccess;
}

refdevError_t ref_stream_wait(struct refdevStream *s)
{
	refdevError_t status;

	pthread_mutex_lock(&s->lock);
	if (s->capture) {
		pthread_mutex_unlock(&s->lock);
		return refdevErrorCapture;
	}
	while (s->first || s->busy)
		pthread_cond_wait(&s->changed, &s->lock);
	status = s->failed;
	s->failed = refdevSuccess;
	pthread_mutex_unlock(&s->lock);
	return status;
}

static refdevError_t create_stream(refdevStream_t *out)
{
	if (!out)
		return refdevErrorInvalid;
	*out = ref_fails(REF_FAULT_STREAM) ? NULL : make_stream(ref_current_device);
	return *out ? refdevSuccess : refdevErrorNoMemory;
}

refdevError_t refdevStreamCreate(refdevStream_t *stream)
{
	REF_RUNTIME(create_stream(stream));
}

static refdevError_t destroy_stream(refdevStream_t s)
{
	struct refdevStream **at;

	if (!s)
		return refdevErrorInvalid;
	pthread_mutex_lock(&s->lock);
	s->ends = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	pthread_mutex_lock(&ref_list_lock);
	for (at = &ref_devices[s->device].streams; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	pthread_mutex_unlock(&ref_list_lock);
	if (s->capture)
		ref_graph_free(s->capture);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return refdevSuccess;
}

refdevError_t refdevStreamDestroy(refdevStream_t stream)
{
	REF_RUNTIME(destroy_stream(stream));
}

static refdevError_t wait_for(refdevStream_t stream)
{
	struct refdevStream *s = ref_stream_of(stream);

	return s ? ref_stream_wait(s) : refdevErrorNoMemory;
}

refdevError_t refdevDrvStreamSynchronize(refdevStream_t stream)
{
	REF_DRIVER(wait_for(stream));
}

refdevError_t refdevStreamSynchronize(refdevStream_t stream)
{
	REF_RUNTIME(refdevDrvStreamSynchronize(stream));
}

/* Wait for all streams. The program must not destroy a stream of the device meanwhile. */
static refdevError_t wait_for_device(void)
{
	refdevError_t status = refdevSuccess, one;
	struct refdevStream *s;

	pthread_mutex_lock(&ref_list_lock);
	s = ref_devices[ref_current_device].streams;
	pthread_mutex_unlock(&ref_list_lock);
	for (; s; s = s->next) {
		one = s->capture ? refdevSuccess : ref_stream_wait(s);
		status = status ? status : one;
	}
	return status;
}

refdevError_t refdevDeviceSynchronize(void)
{
	REF_RUNTIME(wait_for_device());
}

static refdevError_t query_stream(refdevStream_t stream)
{
	struct refdevStream *s = ref_stream_of(stream);
	bool idle;

	if (!s)
		return refdevErrorNoMemory;
	pthread_mutex_lock(&s->lock);
	idle = !s->first && !s->busy;
	pthread_mutex_unlock(&s->lock);
	return idle ? refdevSuccess : refdevErrorNotReady;
}

refdevError_t refdevStreamQuery(refdevStream_t stream)
{
	REF_RUNTIME(query_stream(stream));
}

static refdevError_t get_id(refdevStream_t stream, int *id)
{
	struct refdevStream *s = ref_stream_of(stream);

	if (!s || !id)
		return refdevErrorInvalid;
	*id = s->id;
	return refdevSuccess;
}

refdevError_t refdevStreamGetId(refdevStream_t stream, int *id)
{
	REF_RUNTIME(get_id(stream, id));
}

/* Events ----------------------------------------------------------------------- */

static refdevError_t create_event(refdevEvent_t *out)
{
	refdevEvent_t e;

	if (!out)
		return refdevErrorInvalid;
	*out = NULL;
	e = ref_fails(REF_FAULT_EVENT) ? NULL : calloc(1, sizeof *e);
	if (!e)
		return refdevErrorNoMemory;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->changed, NULL);
	e->users = 1;
	*out = e;
	return refdevSuccess;
}

refdevError_t refdevEventCreate(refdevEvent_t *event)
{
	REF_RUNTIME(create_event(event));
}

static refdevError_t destroy_event(refdevEvent_t event)
{
	if (!event)
		return refdevErrorInvalid;
	ref_event_put(event);
	return refdevSuccess;
}

refdevError_t refdevEventDestroy(refdevEvent_t event)
{
	REF_RUNTIME(destroy_event(event));
}

static refdevError_t submit_event(refdevEvent_t event, refdevStream_t stream, bool wait)
{
	struct refdevStream *s = ref_stream_of(stream);
	struct ref_task *t;

	if (!event || !s)
		return refdevErrorInvalid;
	t = calloc(1, sizeof *t);
	if (!t)
		return refdevErrorNoMemory;
	__atomic_add_fetch(&event->users, 1, __ATOMIC_RELAXED);
	t->kind = wait ? REF_TASK_WAIT : REF_TASK_RECORD;
	t->about.size = sizeof t->about;
	t->about.kind = refdevActivityWait;
	t->event = event;
	pthread_mutex_lock(&event->lock);
	t->event_number = wait ? event->recorded : ++event->recorded;
	pthread_mutex_unlock(&event->lock);
	return ref_submit(s, t);
}

refdevError_t refdevEventRecord(refdevEvent_t event, refdevStream_t stream)
{
	REF_RUNTIME(submit_event(event, stream, false));
}

refdevError_t refdevStreamWaitEvent(refdevStream_t stream, refdevEvent_t event)
{
	REF_RUNTIME(submit_event(event, stream, true));
}

static refdevError_t query_event(refdevEvent_t event, bool wait)
{
	bool done;

	if (!event)
		return refdevErrorInvalid;
	pthread_mutex_lock(&event->lock);
	while (wait && event->done < event->recorded)
		pthread_cond_wait(&event->changed, &event->lock);
	done = event->done >= event->recorded;
	pthread_mutex_unlock(&event->lock);
	return done ? refdevSuccess : refdevErrorNotReady;
}

refdevError_t refdevEventSynchronize(refdevEvent_t event)
{
	REF_RUNTIME(query_event(event, true));
}

refdevError_t refdevEventQuery(refdevEvent_t event)
{
	REF_RUNTIME(query_event(event, false));
}

static refdevError_t elapsed(float *ms, refdevEvent_t start, refdevEvent_t end)
{
	if (!ms || !start || !end || !start->recorded || !end->recorded)
		return refdevErrorInvalid;
	if (query_event(start, false) || query_event(end, false))
		return refdevErrorNotReady;
	*ms = (float)((double)((int64_t)end->host_ns - (int64_t)start->host_ns) / 1e6);
	return refdevSuccess;
}

refdevError_t refdevEventElapsedTime(float *ms, refdevEvent_t start, refdevEvent_t end)
{
	REF_RUNTIME(elapsed(ms, start, end));
}
