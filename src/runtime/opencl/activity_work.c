/* SPDX-License-Identifier: MIT */
/* Work in flight: a list per queue, and the harvest of what has completed.
 *
 *   enqueue: gt_cl_follow() ──► q->first .. q->last ──► gt_cl_harvest() ──► record in the harvester's own ring
 *                 ▲                                          │
 *                 └──────── q->free ◄──── spare ◄────────────┘
 *
 * An entry is the finished record without its times, the event, and nothing else. A harvester takes entries out of
 * the list, asks the runtime with no lock held, and puts back what has not completed: at the front in a queue that runs
 * in order (the first that is not done ends the harvest), at the end in one that does not.
 * Every command that was enqueued is counted as seen in its call's thread; every entry ends as a record, as a drop,
 * or is still here when the process ends. Entries that fork left here are the parent's and are forgotten.
 * Entries come from slabs, are never freed, and are capped: beyond the cap commands are not followed but counted. */
#include "runtime/opencl/activity.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
	BATCH = 32,	       /* entries in a harvester's hands */
	LOOK_EVERY = 256,      /* enqueues between two harvests of a queue */
	SLAB = 256,	       /* entries made at once */
	KEEP = 1024,	       /* free entries that a queue keeps; more go to the spare ones */
	SPARE_WANTED = 1024,   /* that the helper keeps ready */
	CAP_DEFAULT = 1 << 20, /* entries of a process image: 144 MiB at most */
};

const char gt_cl_no_event;

/* Entries that no queue has. */
static struct {
	struct gt_cl_lock lock;
	_Atomic uint32_t count;
	_Atomic uint32_t made; /* of all, for the cap */
	struct gt_cl_pending *first;
} spare;

/* For tests: how much may be in flight. */
static uint32_t cap(void)
{
	static _Atomic uint32_t known;
	uint32_t n = atomic_load_explicit(&known, memory_order_relaxed);
	const char *text;

	if (gt_unlikely(!n)) {
		text = secure_getenv("GPUTAP_OPENCL_IN_FLIGHT");
		n = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
		n = n ? n : CAP_DEFAULT;
		atomic_store_explicit(&known, n, memory_order_relaxed);
	}
	return n;
}

static bool spare_lock(uint32_t epoch)
{
	switch (gt_cl_lock(&spare.lock, epoch)) {
	case GT_CL_LOCK_STALE:
		spare.first = NULL;
		spare.count = 0;
		break;
	case GT_CL_LOCK_FAILED:
		return false;
	case GT_CL_LOCK_TAKEN:
		break;
	}
	return true;
}

static bool spare_make(uint32_t epoch)
{
	struct gt_cl_pending *slab;
	uint32_t n = SLAB, made = atomic_load_explicit(&spare.made, memory_order_relaxed);

	do {
		if (made >= cap())
			return false;
		if (n > cap() - made)
			n = cap() - made;
	} while (!atomic_compare_exchange_weak_explicit(&spare.made, &made, made + n, memory_order_relaxed, memory_order_relaxed));
	slab = gt_cl_alloc(epoch, n * sizeof *slab);
	if (!slab)
		return false;
	for (uint32_t i = 0; i + 1 < n; i++)
		slab[i].next = &slab[i + 1]; /* touches its pages, too */
	if (!spare_lock(epoch))
		return false;
	slab[n - 1].next = spare.first;
	spare.first = slab;
	spare.count += n;
	gt_cl_unlock(&spare.lock);
	return true;
}

void gt_cl_spare_grow(uint32_t epoch)
{
	while (atomic_load_explicit(&spare.count, memory_order_relaxed) < SPARE_WANTED && spare_make(epoch))
		;
}

/* One entry for a queue, from the spare ones; more of them into its own list. With the queue's lock held. */
static struct gt_cl_pending *refill(struct gt_cl_queue *q, uint32_t epoch)
{
	struct gt_cl_pending *p, *rest;

	if (atomic_load_explicit(&spare.count, memory_order_relaxed) == 0)
		spare_make(epoch);
	if (!spare_lock(epoch))
		return NULL;
	p = spare.first;
	if (p) {
		rest = p;
		for (unsigned i = 0; i < BATCH && rest->next; i++) {
			rest = rest->next;
			q->free_count++;
		}
		spare.first = rest->next;
		spare.count -= q->free_count + 1;
		rest->next = NULL;
		q->free = p->next;
	}
	gt_cl_unlock(&spare.lock);
	return p;
}

/* Called with the queue's lock held. */
static struct gt_cl_pending *entry(struct gt_cl_queue *q, uint32_t epoch)
{
	struct gt_cl_pending *p = q->free;

	if (gt_unlikely(!p))
		return refill(q, epoch);
	q->free = p->next;
	q->free_count--;
	return p;
}

static bool queue_lock(struct gt_cl_queue *q, uint32_t epoch)
{
	enum gt_cl_lock_result r = gt_cl_lock(&q->lock, epoch);

	if (gt_unlikely(r == GT_CL_LOCK_STALE)) /* gt_cl_queue_get() resets it */
		gt_cl_unlock(&q->lock);
	return r == GT_CL_LOCK_TAKEN;
}

static bool push(struct gt_cl_queue *q, struct gt_thread *t, const struct gt_cl_work *w, bool *first)
{
	struct gt_cl_pending *p = NULL;

	if (gt_unlikely(!queue_lock(q, t->epoch)))
		return false;
	p = entry(q, t->epoch);
	if (gt_likely(p != NULL)) {
		p->next = NULL;
		p->event = w->event;
		p->record = w->record;
		*q->last = p;
		q->last = &p->next;
		*first = atomic_fetch_add_explicit(&q->count, 1, memory_order_relaxed) == 0;
	}
	gt_cl_unlock(&q->lock);
	return p != NULL;
}

static void release(const struct gt_table *table, cl_event event)
{
	gt_internal_enter();
	GT_CL(table, clReleaseEvent)(event);
	gt_internal_leave();
}

/* A successful command whose event is not to be followed. */
static void lose(const struct gt_table *table, struct gt_thread *t, const struct gt_cl_work *w, enum gt_drop_reason why)
{
	gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_OPENCL, why);
	if (w->event != GT_CL_NO_EVENT && w->event && !w->wanted)
		release(table, w->event);
}

static bool retain(const struct gt_table *table, cl_event event)
{
	cl_int ret;

	gt_internal_enter();
	ret = GT_CL(table, clRetainEvent)(event);
	gt_internal_leave();
	return ret == CL_SUCCESS;
}

static void fill(const struct gt_call *call, const struct gt_cl_queue *q, enum gt_device_op op, struct gt_record_device *r)
{
	uint64_t device = q->device ? q->device->number : 0;

	r->head = (struct gt_record){sizeof *r / 8, GT_RECORD_DEVICE, (uint8_t)op, GT_DEVICE_REF(GT_DOMAIN_OPENCL, device)};
	r->id = call->id;
	r->call_start = call->start;
	r->queue = q->number;
}

cl_int gt_cl_follow(const struct gt_call *call, cl_command_queue handle, enum gt_device_op op, bool blocking,
		    struct gt_cl_work *w, cl_int ret)
{
	struct gt_thread *t = call->thread;
	const struct gt_table *table = w->table;
	struct gt_cl_queue *q;
	bool given, first = false;

	if (gt_unlikely(!table))
		return ret;
	given = w->event != GT_CL_NO_EVENT;
	if (gt_unlikely(ret != CL_SUCCESS)) {
		if (w->wanted && given)
			*w->wanted = w->event;
		return ret;
	}
	gt_device_seen(t, GT_DOMAIN_OPENCL);
	q = gt_cl_queue_get(table, t, handle);
	if (gt_unlikely(!given || !w->event || !q || (w->wanted && !retain(table, w->event)))) {
		lose(table, t, w, q ? GT_DROP_RUNTIME : GT_DROP_POOL);
	} else {
		fill(call, q, op, &w->record);
		if (gt_unlikely(!push(q, t, w, &first))) {
			if (w->wanted)
				release(table, w->event);
			lose(table, t, w, GT_DROP_POOL);
		}
	}
	if (w->wanted && given)
		*w->wanted = w->event;
	if (gt_unlikely(first))
		gt_cl_helper_want(t);
	if (blocking && q)
		gt_cl_harvest_all(q);
	else if (q && gt_unlikely(atomic_load_explicit(&q->count, memory_order_relaxed) >= q->look))
		gt_cl_harvest(q, 4 * BATCH);
	return ret;
}

/* The harvest --------------------------------------------------------------- */

/* Up to BATCH entries from the front of the list. */
static uint32_t take(struct gt_cl_queue *q, uint32_t epoch, uint32_t limit, struct gt_cl_pending **batch)
{
	struct gt_cl_pending *p;
	uint32_t n = 0;

	if (!queue_lock(q, epoch))
		return 0;
	*batch = q->first;
	for (p = q->first; p && n < limit && n < BATCH; n++) {
		q->first = p->next;
		p->next = n + 1 < limit && n + 1 < BATCH ? p->next : NULL;
		p = q->first;
	}
	if (!q->first)
		q->last = &q->first;
	atomic_fetch_add_explicit(&q->taken, n, memory_order_relaxed);
	gt_cl_unlock(&q->lock);
	return n;
}

struct chain {
	struct gt_cl_pending *first, **last;
	uint32_t count;
};

static void chain_add(struct chain *c, struct gt_cl_pending *p)
{
	p->next = NULL;
	*c->last = p;
	c->last = &p->next;
	c->count++;
}

/* Entries that a queue does not need to keep. */
static void give_spare(uint32_t epoch, const struct chain *c)
{
	if (!c->count || !spare_lock(epoch))
		return;
	*c->last = spare.first;
	spare.first = c->first;
	spare.count += c->count;
	gt_cl_unlock(&spare.lock);
}

static void give_back(struct gt_cl_queue *q, uint32_t epoch, const struct chain *left, const struct chain *done)
{
	bool keep;

	if (!queue_lock(q, epoch))
		return; /* lost with its references: whoever holds this lock never comes back */
	if (left->count && q->out_of_order) {
		*q->last = left->first;
		q->last = left->last;
	} else if (left->count) {
		*left->last = q->first;
		if (!q->first)
			q->last = left->last;
		q->first = left->first;
	}
	atomic_fetch_sub_explicit(&q->taken, left->count + done->count, memory_order_relaxed);
	atomic_fetch_sub_explicit(&q->count, done->count, memory_order_relaxed);
	keep = q->free_count < KEEP;
	if (keep && done->count) {
		*done->last = q->free;
		q->free = done->first;
		q->free_count += done->count;
	}
	gt_cl_unlock(&q->lock);
	if (!keep)
		give_spare(epoch, done);
}

static void ask_times(const struct gt_table *table, cl_event event, struct gt_record_device *r)
{
	cl_ulong v[4] = {0, 0, 0, 0};

	for (unsigned i = 0; i < 4; i++)
		if (GT_CL(table, clGetEventProfilingInfo)(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof v[i], &v[i], NULL) != CL_SUCCESS)
			return;
	r->queued = v[0];
	r->submitted = v[1];
	r->start = v[2];
	r->end = v[3];
}

/* Ask after one command; if it is done, record it and let its event go. */
static bool settle(struct gt_cl_queue *q, struct gt_thread *t, struct gt_cl_pending *p)
{
	const struct gt_table *table = q->table;
	struct gt_record_device *r;
	cl_int status = CL_COMPLETE, ret;

	ret = GT_CL(table, clGetEventInfo)(p->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
	if (ret == CL_SUCCESS && status > CL_COMPLETE)
		return false;
	if (ret != CL_SUCCESS) { /* the program released what was not its own: there is nothing left to ask */
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_OPENCL, GT_DROP_RUNTIME);
		return true;
	}
	p->record.status = status;
	if (!q->untimed)
		ask_times(table, p->event, &p->record);
	r = t ? gt_ring_reserve(t, sizeof *r, GT_CLASS_DEVICE, GT_DOMAIN_OPENCL) : NULL;
	if (r) {
		*r = p->record;
		gt_ring_commit(t, sizeof *r);
	}
	GT_CL(table, clReleaseEvent)(p->event);
	return true;
}

uint32_t gt_cl_harvest(struct gt_cl_queue *q, uint32_t limit)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed), n, done_count = 0;
	uint32_t count = atomic_load_explicit(&q->count, memory_order_relaxed);
	struct gt_thread *t;

	if (!count || gt_thread.internal || !epoch || atomic_load_explicit(&q->epoch, memory_order_relaxed) != epoch)
		return 0;
	t = gt_thread_own();
	if (limit > count)
		limit = count;
	gt_internal_enter();
	do {
		struct chain left = {NULL, &left.first, 0}, done = {NULL, &done.first, 0};
		struct gt_cl_pending *p = NULL, *next;

		n = take(q, epoch, limit, &p);
		for (; p; p = next) {
			next = p->next;
			if ((q->out_of_order || !left.count) && settle(q, t, p))
				chain_add(&done, p);
			else
				chain_add(&left, p);
		}
		if (n)
			give_back(q, epoch, &left, &done);
		limit -= n;
		done_count += done.count;
		if (left.count && !q->out_of_order)
			break;
	} while (n && limit);
	gt_internal_leave();
	q->look = atomic_load_explicit(&q->count, memory_order_relaxed) + LOOK_EVERY;
	return done_count;
}

void gt_cl_harvest_all(struct gt_cl_queue *q)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);

	gt_cl_harvest(q, UINT32_MAX);
	if (gt_thread.internal || !epoch || atomic_load_explicit(&q->epoch, memory_order_relaxed) != epoch)
		return;
	for (unsigned i = 0; i < 1000 && atomic_load_explicit(&q->taken, memory_order_relaxed); i++)
		sched_yield();
}

uint32_t gt_cl_event_references(struct gt_cl_queue *q, cl_event event, bool *locked)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed), ours = 0;

	*locked = false;
	if (!epoch || atomic_load_explicit(&q->epoch, memory_order_relaxed) != epoch)
		return 0;
	/* what a harvester has in its hands comes back or goes; one below us on this thread's stack never does */
	for (unsigned i = 0; i < 1000; i++) {
		if (!queue_lock(q, epoch))
			return 0;
		if (!q->taken || i == 999)
			break;
		gt_cl_unlock(&q->lock);
		sched_yield();
	}
	*locked = true;
	for (const struct gt_cl_pending *p = q->first; p; p = p->next)
		ours += p->event == event;
	return ours;
}
