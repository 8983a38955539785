/* SPDX-License-Identifier: MIT */
/* Subscribers of both forms, and the events that they are notified of.
 *
 *   handle = generation << 7 | index + 1 ─► places[] ─► gputap contexts
 *
 * A reused entry gets a new generation, so the handle of the earlier subscriber is refused.
 *
 * Locking: `lock` protects entries and the requests of subscribers; gputap takes its own locks
 * inside `lock`. A thread never holds `lock` while a callback runs or the thread waits for a
 * callback, and never takes `lock` to notify subscribers of an event. gputap makes the callbacks
 * for calls and GPU activities and waits for these callbacks. Callbacks for events are made here
 * and counted in `inside`. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pti.h"

enum { PLACES = 64, PLACE_BITS = 7, WAIT_NS = 50000, WAIT_MAX_S = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pti_subscriber places[PLACES];
static uint64_t generations, ages;

/* Event callbacks that this thread is in. */
struct inside {
	struct inside *outer;
	struct pti_subscriber *subscriber;
};
static _Thread_local struct inside *inside __attribute__((tls_model("initial-exec")));

static int32_t own_inside(const struct pti_subscriber *s)
{
	int32_t n = 0;

	for (const struct inside *i = inside; i; i = i->outer)
		n += i->subscriber == s;
	return n;
}

/* Add @by to `inside` for each callback that this thread is in. A thread that waits in a callback
 * does not count as being in the callback, so that callbacks that unsubscribe each other in two
 * threads do not wait for each other. */
static void count_own_inside(int32_t by)
{
	for (struct inside *i = inside; i; i = i->outer)
		atomic_fetch_add(&i->subscriber->inside, by);
}

static void lock_before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void unlock_after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

/* Reset counts in a fork child. Only the calling thread exists there, so callbacks of other threads
 * never end in the child. */
static void unlock_in_child(void)
{
	for (unsigned i = 0; i < PLACES; i++)
		atomic_store(&places[i].inside, own_inside(&places[i]));
	pthread_mutex_unlock(&lock);
}

static void *handle_of(const struct pti_subscriber *s)
{
	return (void *)(uintptr_t)(s->generation << PLACE_BITS | (uint64_t)(s - places + 1));
}

struct pti_subscriber *pti_subscriber_get(void *handle, const struct pti_form *form)
{
	uint64_t place = ((uintptr_t)handle & ((1u << PLACE_BITS) - 1)) - 1;

	if (!handle || place >= PLACES)
		return NULL;
	pthread_mutex_lock(&lock);
	if (places[place].form && !places[place].leaves && handle_of(&places[place]) == handle &&
	    (!form || places[place].form == form))
		return &places[place];
	pthread_mutex_unlock(&lock);
	return NULL;
}

void pti_subscriber_put(void)
{
	pthread_mutex_unlock(&lock);
}

uint32_t pti_subscriber_select(struct pti_subscriber *s, uint32_t domain,
			       const uint32_t *operations, size_t count, bool selected)
{
	return gputap_context_select(s->calls, domain, operations, count, selected) ? PTI_FAILED
										    : PTI_OK;
}

/* Create and start a context with a callback for every operation. No operation is selected until
 * pti_subscriber_select(). */
static int make_context(struct pti_subscriber *s)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	int rc = gputap_context_create(&opts, &s->calls);

	for (unsigned d = 0; rc == 0 && d < PTI_DOMAINS; d++) {
		rc = gputap_context_calls(s->calls, pti_domains[d], NULL, 0, 0, s->form->on_call,
					  s);
		if (rc == 0)
			rc = gputap_context_select(s->calls, pti_domains[d], NULL, 0, 0);
	}
	rc = rc ? rc : gputap_context_start(s->calls);
	if (rc && s->calls)
		gputap_context_destroy(s->calls);
	return rc;
}

static void notify_event(const struct gputap_event *event, void *user);

/* Runs once, for the first subscriber, which may come before any tool is started. */
static void subscribe_to_events(void)
{
	gputap_event_subscribe(notify_event, NULL);
}

uint32_t pti_subscriber_create(void **handle, const struct pti_form *form, void (*callback)(void),
			       void *user)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct pti_subscriber *s = NULL;
	uint32_t result = PTI_FAILED;

	if (!handle || !callback)
		return PTI_BAD_ARGUMENT;
	pthread_once(&once, subscribe_to_events);
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < PLACES && !s; i++)
		if (!places[i].form)
			s = &places[i];
	if (s) {
		s->calls = s->activity = NULL;
		s->form = form;
		s->callback = callback;
		s->user = user;
		s->generation = ++generations;
		atomic_store(&s->age, ++ages);
		s->leaves = false;
		if (make_context(s) == 0) {
			*handle = handle_of(s);
			result = PTI_OK;
		} else {
			s->form = NULL;
		}
	}
	pthread_mutex_unlock(&lock);
	return result;
}

static uint64_t seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec;
}

/* Wait until no other thread is in an event callback of @s. */
static void wait_for_events(struct pti_subscriber *s)
{
	const struct timespec pause = {0, WAIT_NS};
	uint64_t end = seconds_now() + WAIT_MAX_S;
	int saved = errno;

	while (atomic_load(&s->inside) > 0 && seconds_now() < end)
		nanosleep(&pause, NULL);
	errno = saved;
}

uint32_t pti_subscriber_destroy(void *handle)
{
	struct pti_subscriber *s = pti_subscriber_get(handle, NULL);

	if (!s)
		return PTI_BAD_ARGUMENT;
	s->leaves = true;
	atomic_store(&s->events, false);
	for (unsigned i = 0; i < PTI_SHIPPED_DOMAINS; i++)
		atomic_store(&s->phases[i], 0);
	pti_subscriber_put();
	count_own_inside(-1);
	gputap_context_destroy(s->calls);
	gputap_context_destroy(s->activity);
	wait_for_events(s);
	count_own_inside(1);
	pthread_mutex_lock(&lock);
	s->form = NULL;
	pthread_mutex_unlock(&lock);
	return PTI_OK;
}

/* Events ------------------------------------------------------------------------------------- */

/* Return the oldest subscriber that is younger than @age and requests events, or NULL. Count this
 * thread as being in the subscriber's callback. Takes no lock, because an event may come while
 * gputap holds one of its locks.
 *
 *   1. Find the entry.
 *   2. Increment `inside`.
 *   3. Look again. If the subscriber has unsubscribed in the meantime, it does not wait for this
 *      thread. In that case, decrement `inside` and start again. */
static struct pti_subscriber *enter_next(uint64_t age)
{
	for (;;) {
		struct pti_subscriber *next = NULL;
		uint64_t first = UINT64_MAX;

		for (unsigned i = 0; i < PLACES; i++) {
			uint64_t its = atomic_load(&places[i].age);

			if (atomic_load(&places[i].events) && its > age && its < first) {
				next = &places[i];
				first = its;
			}
		}
		if (!next)
			return NULL;
		atomic_fetch_add(&next->inside, 1);
		if (atomic_load(&next->events) && atomic_load(&next->age) == first)
			return next;
		atomic_fetch_sub(&next->inside, 1);
	}
}

static void notify_event(const struct gputap_event *event, void *user)
{
	struct pti_subscriber *s;
	uint64_t age = 0;

	(void)user;
	while ((s = enter_next(age)) != NULL) {
		struct inside here = {inside, s};

		age = atomic_load(&s->age);
		inside = &here;
		s->form->on_event(s, event);
		inside = here.outer;
		atomic_fetch_sub(&s->inside, 1);
	}
}

uint32_t pti_event_result(uint32_t code)
{
	switch (code) {
	case GPUTAP_EVENT_LOSS: return 1000; /* PTI_ERROR_RECORDS_LOST */
	case GPUTAP_EVENT_UNKNOWN_ENTRY: return 7;
	case GPUTAP_EVENT_CLOCK: return 6;
	case GPUTAP_EVENT_NOT_TRACED: return 51;
	case GPUTAP_EVENT_PROFILING: return 52;
	case GPUTAP_EVENT_FAULT: return 50;
	default: return PTI_FAILED;
	}
}

void pti_event_text(const struct gputap_event *event, char *text, size_t room)
{
	const char *name = gputap_event_name(event->code);
	const char *domain = event->domain ? gputap_domain_name(event->domain) : NULL;

	snprintf(text, room, "%s%s%s%s%s (%llu)", domain ? domain : "", domain ? ": " : "",
		 name ? name : "event", event->text ? ": " : "", event->text ? event->text : "",
		 (unsigned long long)event->value);
}

/* Registration as gputap's tool
 * ----------------------------------------------------------------- */

static void notify_nothing(const struct gputap_call *call, uint64_t *data, void *user)
{
	(void)call, (void)data, (void)user;
}

static void notify_no_activity(const struct gputap_activity *activity, uint64_t *data, void *user)
{
	(void)activity, (void)data, (void)user;
}

/* Create a context that is never started. The context requests everything in advance that a
 * subscriber may request while the program runs, because runtimes' tables get taps when they are
 * registered, and a GPU activity can be followed only if the creation of its queue was seen. */
static int reserve_everything(void)
{
	const struct gputap_context_opts opts = {.size = sizeof opts};
	struct gputap_context *ctx;
	int rc = gputap_context_create(&opts, &ctx);

	if (rc)
		return rc;
	for (unsigned d = 0; rc == 0 && d < PTI_DOMAINS; d++)
		rc = gputap_context_calls(ctx, pti_domains[d], NULL, 0, 0, notify_nothing, NULL);
	rc = rc ? rc
		: gputap_context_activities(ctx, GPUTAP_DOMAIN_LEVEL_ZERO, GPUTAP_ACTIVITY_ALL,
					    notify_no_activity, NULL);
	rc = rc ? rc
		: gputap_context_activities(ctx, GPUTAP_DOMAIN_OPENCL, GPUTAP_ACTIVITY_ALL,
					    notify_no_activity, NULL);
	if (rc)
		gputap_context_destroy(ctx);
	return rc;
}

/* Runs before the first call of any runtime. */
static int start_following(void *user)
{
	int rc = pti_objects_start();

	(void)user;
	return rc ? rc : reserve_everything();
}

static const struct gputap_tool tool = {
	.size = sizeof tool,
	.abi = GPUTAP_TOOL_ABI,
	/* called last at ENTER and first at EXIT, so that other tools find new objects at EXIT */
	.priority = INT32_MAX,
	.name = "libpti_callback",
	.start = start_following};

PTI_EXPORT const struct gputap_tool *gputap_tool_describe(uint32_t version)
{
	(void)version;
	return &tool;
}

__attribute__((constructor)) static void start_at_load(void)
{
	pthread_atfork(lock_before_fork, unlock_after_fork, unlock_in_child);
	gputap_tool_opened();
}
