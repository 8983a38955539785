/* SPDX-License-Identifier: MIT */
/* Events: a thread of ROCr sleeps on an event until the GPU interrupts. The rules are those of the
 * kernel driver.
 *
 *   CP or kernel ── mailbox[id] := id ── interrupt ──► event `id` set ──► its waiters
 *
 * Setting an event wakes all current waiters. An auto-reset event without waiters stays set until
 * the next wait takes it. Ids are 1 to 4095, lowest free first, so that few programs use an id
 * above 255: an interrupt from a kernel (s_sendmsg) carries 8 bits of the id, and the mailboxes
 * identify the event among all events whose ids end in these bits.
 * Locking: one mutex; a waiting thread sleeps on a separate futex. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "soft/amdgpu/amdgpu.h"

enum { EVENTS = 4096, INTERRUPT_BITS = 8 };
#define EMPTY UINT64_MAX /* value of an unwritten mailbox */

struct link { /* one wait for one event, in the memory of the waiter */
	struct link *next;
	uint32_t *futex;
	bool activated;
};

struct event {
	HsaEvent public; /* handle that ROCr gets */
	bool used, set, auto_reset;
	struct link *waiters;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* created on first use, never freed: a late ROCr thread may still refer to an event */
static struct event *events[EVENTS];
static uint64_t mailboxes[EVENTS];

static void activate(struct link *link)
{
	link->activated = true;
	__atomic_store_n(link->futex, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, link->futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void set_locked(struct event *e)
{
	bool taken = false;

	for (struct link *l = e->waiters; l; l = l->next)
		if (!l->activated) {
			activate(l);
			taken = true;
		}
	e->set = !e->auto_reset || !taken;
}

static struct event *used_event(uint32_t id)
{
	return id && id < EVENTS && events[id] && events[id]->used ? events[id] : NULL;
}

static bool has_mailbox(HSA_EVENTTYPE type)
{
	return type == HSA_EVENTTYPE_SIGNAL || type == HSA_EVENTTYPE_DEBUG_EVENT;
}

/* Take the lowest free event. Return NULL if all events are in use. */
static struct event *take_free(void)
{
	for (uint32_t id = 1; id < EVENTS; id++) {
		if (events[id] && events[id]->used)
			continue;
		if (!events[id])
			events[id] = calloc(1, sizeof *events[id]);
		if (!events[id])
			return NULL;
		memset(events[id], 0, sizeof *events[id]);
		events[id]->public.EventId = id;
		return events[id];
	}
	return NULL;
}

THUNK_API HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *wanted, bool manual_reset, bool set,
					  HsaEvent **out)
{
	struct event *e;

	if (soft_opened())
		return soft_opened();
	if (wanted->EventType >= HSA_EVENTTYPE_MAXID)
		return HSAKMT_STATUS_INVALID_PARAMETER;
	if (wanted->EventType == HSA_EVENTTYPE_SIGNAL && soft_fails(SOFT_FAIL_EVENT))
		return HSAKMT_STATUS_ERROR;
	pthread_mutex_lock(&lock);
	e = take_free();
	if (e) {
		HsaEventData *data = &e->public.EventData;
		uint32_t id = e->public.EventId;
		e->used = true;
		e->set = set;
		e->auto_reset = !manual_reset;
		data->EventType = wanted->EventType;
		data->HWData1 = id;
		data->HWData3 = id;
		__atomic_store_n(&mailboxes[id], EMPTY, __ATOMIC_RELEASE);
		if (has_mailbox(wanted->EventType)) {
			data->EventData.SyncVar = wanted->SyncVar;
			/* ROCr puts the address of the mailbox into the signal */
			data->HWData2 = (HSAuint64)&mailboxes[id];
		}
	}
	pthread_mutex_unlock(&lock);
	if (!e)
		return HSAKMT_STATUS_ERROR; /* ROCr continues by polling its signals */
	*out = &e->public;
	return HSAKMT_STATUS_SUCCESS;
}

THUNK_API HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *event)
{
	struct event *e;

	if (soft_opened())
		return soft_opened();
	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	e = used_event(event->EventId);
	if (e) {
		for (struct link *l = e->waiters; l; l = l->next)
			activate(l);
		e->waiters = NULL;
		e->used = false;
	}
	pthread_mutex_unlock(&lock);
	return e ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

THUNK_API HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *event)
{
	if (soft_opened())
		return soft_opened();
	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	if (!has_mailbox(event->EventData.EventType)) /* only the driver sets such events */
		return HSAKMT_STATUS_ERROR;
	soft_event_signal(event->EventId);
	return HSAKMT_STATUS_SUCCESS;
}

THUNK_API HSAKMT_STATUS hsaKmtResetEvent(HsaEvent *event)
{
	struct event *e;

	if (soft_opened())
		return soft_opened();
	if (!event)
		return HSAKMT_STATUS_INVALID_HANDLE;
	if (!has_mailbox(event->EventData.EventType))
		return HSAKMT_STATUS_ERROR;
	pthread_mutex_lock(&lock);
	e = used_event(event->EventId);
	if (e)
		e->set = false;
	pthread_mutex_unlock(&lock);
	return e ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

THUNK_API HSAKMT_STATUS hsaKmtQueryEventState(HsaEvent *event)
{
	if (soft_opened())
		return soft_opened();
	return event ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Sleep until @futex is 1 or until @end_ns (UINT64_MAX: unlimited). Return false on timeout. */
static bool sleep_on(uint32_t *futex, uint64_t end_ns)
{
	struct timespec t, *limit = NULL;

	if (end_ns != UINT64_MAX) {
		uint64_t now = now_ns();
		if (now >= end_ns)
			return false;
		t = (struct timespec){(time_t)((end_ns - now) / 1000000000ull),
				      (long)((end_ns - now) % 1000000000ull)};
		limit = &t;
	}
	syscall(SYS_futex, futex, FUTEX_WAIT_PRIVATE, 0, limit, NULL, 0);
	return true;
}

static bool enough(const struct link *links, HSAuint32 count, bool all)
{
	HSAuint32 activated = 0;

	for (HSAuint32 i = 0; i < count; i++)
		activated += links[i].activated;
	return all ? activated == count : activated > 0;
}

/* Link @links into the events. Return false if an event is invalid. */
static bool link_all(HsaEvent *handles[], struct link *links, HSAuint32 count, uint32_t *futex)
{
	for (HSAuint32 i = 0; i < count; i++)
		if (!used_event(handles[i]->EventId))
			return false;
	for (HSAuint32 i = 0; i < count; i++) {
		struct event *e = events[handles[i]->EventId];
		links[i] = (struct link){.next = e->waiters, .futex = futex, .activated = e->set};
		e->waiters = &links[i];
		if (e->auto_reset)
			e->set = false;
	}
	return true;
}

static void unlink_all(HsaEvent *handles[], struct link *links, HSAuint32 count)
{
	for (HSAuint32 i = 0; i < count; i++)
		for (struct link **at = &events[handles[i]->EventId]->waiters; *at;
		     at = &(*at)->next)
			if (*at == &links[i]) {
				*at = links[i].next;
				break;
			}
}

static HSAKMT_STATUS wait_linked(const struct link *links, HSAuint32 count, bool all,
				 uint32_t *futex, uint64_t end_ns)
{
	while (!enough(links, count, all)) {
		bool in_time;
		/* reset under the lock, so that a later activation sets the futex again */
		__atomic_store_n(futex, 0, __ATOMIC_RELAXED);
		pthread_mutex_unlock(&lock);
		in_time = sleep_on(futex, end_ns);
		pthread_mutex_lock(&lock);
		if (!in_time)
			return enough(links, count, all) ? HSAKMT_STATUS_SUCCESS
							 : HSAKMT_STATUS_WAIT_TIMEOUT;
	}
	return HSAKMT_STATUS_SUCCESS;
}

THUNK_API HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *handles[], HSAuint32 count, bool all,
						   HSAuint32 milliseconds)
{
	/* ROCr passes 0xfffffffe for "endless, but wake now and then" */
	uint64_t end_ns =
		milliseconds >= 0xfffffffeu ? UINT64_MAX : now_ns() + milliseconds * 1000000ull;
	struct link few[64], *links = few;
	HSAKMT_STATUS status = HSAKMT_STATUS_ERROR;
	uint32_t futex = 0;

	if (soft_opened())
		return soft_opened();
	if (!handles)
		return HSAKMT_STATUS_INVALID_HANDLE;
	if (count > sizeof few / sizeof *few)
		links = malloc(count * sizeof *links);
	if (!links)
		return HSAKMT_STATUS_NO_MEMORY;
	pthread_mutex_lock(&lock);
	if (link_all(handles, links, count, &futex)) {
		status = wait_linked(links, count, all, &futex, end_ns);
		unlink_all(handles, links, count);
	}
	pthread_mutex_unlock(&lock);
	if (links != few)
		free(links);
	return status;
}

THUNK_API HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *event, HSAuint32 milliseconds)
{
	return event ? hsaKmtWaitOnMultipleEvents(&event, 1, true, milliseconds)
		     : HSAKMT_STATUS_INVALID_HANDLE;
}

/* Version 1.14 of the driver's interface introduced event ages. This library reports version 1.10
 * to ROCr 6, which therefore passes zeros (no ages), and 1.15 to ROCr 7, which does not wait for
 * events when it uses libdtif.so. */
THUNK_API HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *handles[], HSAuint32 count,
						       bool all, HSAuint32 milliseconds,
						       uint64_t *ages)
{
	(void)ages;
	return hsaKmtWaitOnMultipleEvents(handles, count, all, milliseconds);
}

THUNK_API HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *event, HSAuint32 milliseconds,
					      uint64_t *age)
{
	(void)age;
	return hsaKmtWaitOnEvent(event, milliseconds);
}

void soft_event_signal(uint32_t id)
{
	struct event *e;

	pthread_mutex_lock(&lock);
	e = used_event(id);
	if (e) {
		__atomic_store_n(&mailboxes[id], EMPTY, __ATOMIC_RELEASE);
		set_locked(e);
	}
	pthread_mutex_unlock(&lock);
}

void soft_event_interrupt(uint32_t low_bits)
{
	const uint32_t step = 1u << INTERRUPT_BITS;

	pthread_mutex_lock(&lock);
	for (uint32_t id = low_bits & (step - 1); id < EVENTS; id += step)
		if (used_event(id) && __atomic_load_n(&mailboxes[id], __ATOMIC_ACQUIRE) != EMPTY) {
			__atomic_store_n(&mailboxes[id], EMPTY, __ATOMIC_RELEASE);
			set_locked(events[id]);
		}
	pthread_mutex_unlock(&lock);
}

bool soft_event_memory_fault(HSAuint32 node, uint64_t address, bool read_only)
{
	bool notified = false;

	pthread_mutex_lock(&lock);
	for (uint32_t id = 1; id < EVENTS; id++) {
		struct event *e = used_event(id);
		if (!e || e->public.EventData.EventType != HSA_EVENTTYPE_MEMORY)
			continue;
		e->public.EventData.EventData.MemoryAccessFault = (HsaMemoryAccessFault){
			.NodeId = node,
			.VirtualAddress = address & ~(SOFT_PAGE - 1),
			.Failure = {.NotPresent = !read_only, .ReadOnly = read_only},
			.Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS,
		};
		set_locked(e);
		notified = true;
	}
	pthread_mutex_unlock(&lock);
	return notified;
}

void soft_event_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	for (uint32_t id = 1; id < EVENTS; id++)
		if (events[id]) {
			events[id]->used = false;
			events[id]->waiters = NULL;
		}
}
