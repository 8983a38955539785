/* SPDX-License-Identifier: MIT */
/* Subscribers: notified of calls in the calling thread, and of GPU activities on submission and
 * completion. Without subscribers, the cost is one load.
 *
 * A subscriber has an entry and a number. A thread that notifies a subscriber increments the
 * entry's count before it reads the number. refdevUnsubscribe() clears the number before it waits
 * for the count to become 0. */
#include <sched.h>
#include <stdatomic.h>

#include "soft/refdev/refdev_parts.h"

struct trace_place {
	refdevSubscriber functions;
	const refdevSubscriber *of;
	_Atomic uint32_t number; /* 0: unused */
	_Atomic uint32_t notifying;
};

static struct trace_place places[REF_SUBSCRIBERS];
static _Atomic uint32_t subscribed; /* how many */
static uint32_t last_number;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t last_correlation;
static _Thread_local uint64_t correlation;
static _Thread_local uint32_t depth;

uint64_t ref_correlation(void)
{
	return correlation;
}

/* Enter an entry. @number: the required number; 0: any. Return the entry's number (release with
 * leave_place()), or 0 if the number does not match. */
static uint32_t enter_place(struct trace_place *p, uint32_t number)
{
	uint32_t now;

	atomic_fetch_add(&p->notifying, 1);
	now = atomic_load(&p->number);
	if (now && (!number || now == number))
		return now;
	atomic_fetch_sub(&p->notifying, 1);
	return 0;
}

static void leave_place(struct trace_place *p)
{
	atomic_fetch_sub(&p->notifying, 1);
}

void ref_enter(struct ref_frame *f, const char *name, bool driver)
{
	if (!depth++)
		correlation =
			atomic_fetch_add_explicit(&last_correlation, 1, memory_order_relaxed) + 1;
	f->call.size = 0;
	if (!atomic_load_explicit(&subscribed, memory_order_relaxed))
		return;
	f->call = (refdevCall){sizeof f->call, name, driver, 0, 0, depth > 1, correlation};
	for (int i = 0; i < REF_SUBSCRIBERS; i++) {
		struct trace_place *p = &places[i];

		f->slots[i] = 0;
		f->subscriptions[i] = enter_place(p, 0);
		if (!f->subscriptions[i])
			continue;
		if (p->functions.call)
			p->functions.call(&f->call, &f->slots[i], p->functions.user);
		leave_place(p);
	}
}

refdevError_t ref_leave(struct ref_frame *f, refdevError_t status)
{
	depth--;
	if (!f->call.size)
		return status;
	f->call.exits = 1;
	f->call.status = status;
	for (int i = REF_SUBSCRIBERS - 1; i >= 0; i--) {
		struct trace_place *p = &places[i];

		if (!f->subscriptions[i] || !enter_place(p, f->subscriptions[i]))
			continue;
		if (p->functions.call)
			p->functions.call(&f->call, &f->slots[i], p->functions.user);
		leave_place(p);
	}
	return status;
}

void ref_tell_submitted(struct ref_task *task)
{
	if (!atomic_load_explicit(&subscribed, memory_order_relaxed))
		return;
	for (int i = 0; i < REF_SUBSCRIBERS; i++) {
		struct trace_place *p = &places[i];

		task->subscriptions[i] = enter_place(p, 0);
		if (!task->subscriptions[i])
			continue;
		task->tokens[i] = p->functions.submitted
					  ? p->functions.submitted(&task->about, p->functions.user)
					  : NULL;
		leave_place(p);
	}
}

void ref_tell_completed(struct ref_task *task)
{
	for (int i = 0; i < REF_SUBSCRIBERS; i++) {
		struct trace_place *p = &places[i];

		if (!task->subscriptions[i] || !enter_place(p, task->subscriptions[i]))
			continue;
		if (p->functions.completed)
			p->functions.completed(&task->about, task->tokens[i], p->functions.user);
		leave_place(p);
	}
}

refdevError_t refdevSubscribe(const refdevSubscriber *subscriber)
{
	struct trace_place *free_place = NULL;

	if (!subscriber || subscriber->size < sizeof *subscriber)
		return refdevErrorInvalid;
	pthread_mutex_lock(&lock);
	for (int i = REF_SUBSCRIBERS - 1; i >= 0; i--) {
		if (!atomic_load(&places[i].number))
			free_place = &places[i];
		else if (places[i].of == subscriber) {
			pthread_mutex_unlock(&lock);
			return refdevErrorInvalid;
		}
	}
	if (free_place) {
		free_place->functions = *subscriber;
		free_place->of = subscriber;
		atomic_store(&free_place->number, ++last_number ? last_number : ++last_number);
		atomic_fetch_add(&subscribed, 1);
	}
	pthread_mutex_unlock(&lock);
	return free_place ? refdevSuccess : refdevErrorNoMemory;
}

refdevError_t refdevUnsubscribe(const refdevSubscriber *subscriber)
{
	refdevError_t status = refdevErrorInvalid;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < REF_SUBSCRIBERS; i++) {
		struct trace_place *p = &places[i];

		if (!atomic_load(&p->number) || p->of != subscriber)
			continue;
		atomic_store(&p->number, 0);
		while (atomic_load(&p->notifying))
			sched_yield();
		p->of = NULL;
		atomic_fetch_sub(&subscribed, 1);
		status = refdevSuccess;
	}
	pthread_mutex_unlock(&lock);
	return status;
}
