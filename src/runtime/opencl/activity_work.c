/* SPDX-License-Identifier: MIT */
/* Work in flight: a list per queue, and the harvest of what has completed.
 *
 *        harvested ▼                    ▼ pushed
 *   | chunk ─────────────► chunk ─────────────► chunk |   entries in a row, as they were submitted
 *     q->head                              q->tail        a drained chunk goes to the spare ones
 *
 * An enqueue, in the program's thread (gt_cl_follow()):
 *   1. It counts the command as seen.
 *   2. It takes q->push, the lock of the threads that enqueue to this queue.
 *   3. It writes the entry at the tail. Behind a full chunk comes a spare one.
 *   4. It stores q->pushed + 1 (release): the entry is the harvester's.
 * The harvest (harvest()), one thread at a time, which holds q->harvest:
 *   1. It loads q->pushed (acquire): the entries before that position are whole.
 *   2. It asks the runtime for the times of the entry at q->harvested.
 *   3. The command is done: it writes the record into its own thread's ring and releases the event.
 *      The command is not done: in a queue that runs in order the harvest ends here; in another
 *      one the entry is written again at the tail.
 *   4. It stores q->harvested + 1 (release), and goes on with 2.
 * A chunk becomes a spare one when the harvest has stepped into the next chunk.
 * Locks, in the order in which they are taken: q->harvest, q->push, spare.lock. After a fork the
 * child's first use of a queue forgets the parent's entries (gt_cl_queue_reset()).
 *
 * Who harvests:
 *   the device is the host   Enqueues do, a few commands at a time; the helper what the program
 *                            does not come by to do. No processor is idle there. Events must be
 *                            released soon, as runtimes use their memory again: with 100,000
 *                            events of PoCL kept until the program waited, each enqueue cost
 *                            twice as much.
 *   it is not                The helper does, beside the program: a question takes microseconds
 *                            (NVIDIA: 1.4 us).
 * An enqueue keeps away from the runtime's workers. The locks of an event and of the heap do not
 * spin: to meet a worker there costs both a sleep (PoCL, 100,000 kernels, one look every 32
 * enqueues up to the last one done: 0.4 us a kernel). So it looks rarely, and a good deal behind.
 * A program that waits every few hundred commands has them all harvested after the wait.
 *
 * Every entry ends as a record, as a drop, or is still here when the process ends. Beyond a cap
 * commands are not followed but counted. */
#include "runtime/opencl/activity.h"

#include <stdlib.h>

enum {
	LOOK_EVERY = 512,    /* enqueues between two harvests of a queue */
	LOOK_HELPED = 16384, /* the same where the helper harvests: should it not keep up */
	LOOK_AT = 1024,      /* commands that an enqueue harvests at most */
	/* of a queue in order: so many at once, so far from a worker of the runtime */
	STEP = 128,
	/* commands of a queue out of order that a wait looks at, and again while half of them
	 * are done */
	LOOK_WAITED = 256,
	CHUNK = 32,            /* entries: 3.5 KiB; a power of two: each command divides by it */
	FETCH_AHEAD = 384,     /* bytes of the ring: three records on */
	SPARE_WANTED = 32,     /* chunks that the helper keeps ready */
	CAP_DEFAULT = 1 << 20, /* commands in flight in a queue: 112 MiB */
};

struct gt_cl_chunk {
	struct gt_cl_chunk *next;
	struct gt_cl_pending entry[CHUNK];
};

const char gt_cl_no_event;

/* Chunks that no queue has. */
static struct {
	struct gt_cl_lock lock;
	_Atomic uint32_t count;
	struct gt_cl_chunk *first;
} spare;

/* For tests: how much may be in flight. */
static uint32_t in_flight_max(void)
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

/* Chunks ------------------------------------------------------------------------ */

static bool spare_lock(uint32_t epoch)
{
	switch (gt_cl_lock(&spare.lock, epoch)) {
	case GT_CL_LOCK_STALE:
		spare.first = NULL;
		spare.count = 0;
		break;
	case GT_CL_LOCK_FAILED: return false;
	case GT_CL_LOCK_TAKEN: break;
	}
	return true;
}

static void spare_give(struct gt_cl_chunk *c, uint32_t epoch)
{
	if (!spare_lock(epoch))
		return;
	c->next = spare.first;
	spare.first = c;
	spare.count++;
	gt_cl_unlock(&spare.lock);
}

static struct gt_cl_chunk *spare_take(uint32_t epoch)
{
	struct gt_cl_chunk *c;

	if (atomic_load_explicit(&spare.count, memory_order_relaxed) == 0)
		return gt_cl_alloc(epoch, sizeof *c);
	if (!spare_lock(epoch))
		return NULL;
	c = spare.first;
	if (c) {
		spare.first = c->next;
		spare.count--;
		c->next = NULL;
	}
	gt_cl_unlock(&spare.lock);
	return c ? c : gt_cl_alloc(epoch, sizeof *c);
}

void gt_cl_spare_grow(uint32_t epoch)
{
	struct gt_cl_chunk *c;

	while (atomic_load_explicit(&spare.count, memory_order_relaxed) < SPARE_WANTED) {
		c = gt_cl_alloc(epoch, sizeof *c);
		if (!c)
			return;
		c->entry[0].event = c->entry[CHUNK - 1].event = NULL; /* its pages come now */
		spare_give(c, epoch);
	}
}

/* Submission ---------------------------------------------------------------------- */

void gt_cl_queue_reset(struct gt_cl_queue *q, uint32_t epoch)
{
	if (!gt_cl_lock(&q->push, epoch))
		return;
	if (gt_cl_lock(&q->harvest, epoch)) {
		/* the parent's; not given to the spare ones: a harvester there may hold one */
		q->head = q->tail = NULL;
		q->harvested = q->pushed = 0;
		q->head_at = 0;
		atomic_store_explicit(&q->look, 0, memory_order_relaxed);
		atomic_store_explicit(&q->epoch, epoch, memory_order_release);
		gt_cl_unlock(&q->harvest);
	}
	gt_cl_unlock(&q->push);
}

/* A lock of a queue whose list is this process's. */
static bool queue_lock(struct gt_cl_lock *lock, uint32_t epoch)
{
	enum gt_cl_lock_result r = gt_cl_lock(lock, epoch);

	if (gt_unlikely(r == GT_CL_LOCK_STALE)) /* gt_cl_queue_get() resets it */
		gt_cl_unlock(lock);
	return r == GT_CL_LOCK_TAKEN;
}

/* Where the next entry goes; its position is q->pushed. With q->push held. */
static struct gt_cl_pending *tail_entry(struct gt_cl_queue *q, uint32_t epoch)
{
	uint64_t pushed = atomic_load_explicit(&q->pushed, memory_order_relaxed);
	struct gt_cl_chunk *c;

	if (gt_unlikely(pushed % CHUNK == 0)) {
		c = spare_take(epoch);
		if (!c)
			return NULL;
		if (q->tail)
			q->tail->next = c;
		else
			q->head = c;
		q->tail = c;
	}
	return &q->tail->entry[pushed % CHUNK];
}

static void tail_done(struct gt_cl_queue *q)
{
	atomic_store_explicit(&q->pushed,
			      atomic_load_explicit(&q->pushed, memory_order_relaxed) + 1,
			      memory_order_release);
}

static bool push_pending(struct gt_cl_queue *q, const struct gt_call *call, enum gt_device_op op,
			 const struct gt_cl_work *w)
{
	uint32_t epoch = w->thread->epoch;
	struct gt_cl_pending *p = NULL;

	if (gt_unlikely(!queue_lock(&q->push, epoch)))
		return false;
	if (gt_likely(gt_cl_queue_count(q) < in_flight_max()))
		p = tail_entry(q, epoch);
	if (gt_likely(p != NULL)) {
		p->event = w->event;
		p->id = call->id;
		p->call_start = call->start;
		p->queue = q->number;
		p->device = GT_DEVICE_REF(GT_DOMAIN_OPENCL, q->device ? q->device->number : 0);
		p->op = (uint16_t)op;
		p->what = w->what;
		p->recorded = w->recorded;
		p->item = w->item;
		tail_done(q);
	}
	gt_cl_unlock(&q->push);
	return p != NULL;
}

static void release(const struct gt_table *table, cl_event event)
{
	gt_internal_enter();
	GT_CL(table, clReleaseEvent)(event);
	gt_internal_leave();
	gt_cl_callbacks_run();
}

/* A successful command that is not to be followed. */
static void lose_command(struct gt_thread *t, const struct gt_cl_work *w, enum gt_drop_reason why)
{
	if (w->recorded)
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_OPENCL, why);
	if (w->event != GT_CL_NO_EVENT && w->event && (!w->wanted || w->retained))
		release(w->table, w->event);
}

static bool retain(const struct gt_table *table, cl_event event)
{
	cl_int ret;

	gt_internal_enter();
	ret = GT_CL(table, clRetainEvent)(event);
	gt_internal_leave();
	return ret == CL_SUCCESS;
}

/* Return: false: it is not. */
static bool follow(const struct gt_call *call, struct gt_cl_queue *q, enum gt_device_op op,
		   struct gt_cl_work *w)
{
	if (w->wanted && !w->retained && w->event != GT_CL_NO_EVENT && w->event)
		w->retained = retain(w->table, w->event);
	if (gt_unlikely(!q || w->event == GT_CL_NO_EVENT || !w->event ||
			(w->wanted && !w->retained))) {
		lose_command(w->thread, w, q ? GT_DROP_RUNTIME : GT_DROP_POOL);
	} else if (gt_unlikely(!push_pending(q, call, op, w))) {
		lose_command(w->thread, w, GT_DROP_POOL);
	} else {
		return true;
	}
	return false;
}

/* @followed: from now on it is the harvest's. */
static void notify_exit(struct gt_cl_work *w, cl_int ret, bool followed)
{
	gt_cl_tell_over(w);
	gt_work_item_exit(w->item);
	if (!followed)
		gt_work_item_drop(w->item, ret == CL_SUCCESS);
}

/* The harvest --------------------------------------------------------------- */

/* The times, the last one first: a runtime refuses that one until the command is done. False:
 * not done, or no times. */
static bool ask_times(const struct gt_table *table, cl_event event, cl_ulong v[4])
{
	__typeof__(&clGetEventProfilingInfo) ask = GT_CL(table, clGetEventProfilingInfo);

	if (gt_likely(ask(event, CL_PROFILING_COMMAND_END, sizeof v[3], &v[3], NULL) ==
			      CL_SUCCESS &&
		      v[3] &&
		      ask(event, CL_PROFILING_COMMAND_START, sizeof v[2], &v[2], NULL) ==
			      CL_SUCCESS &&
		      v[2] &&
		      ask(event, CL_PROFILING_COMMAND_SUBMIT, sizeof v[1], &v[1], NULL) ==
			      CL_SUCCESS &&
		      v[1] &&
		      ask(event, CL_PROFILING_COMMAND_QUEUED, sizeof v[0], &v[0], NULL) ==
			      CL_SUCCESS &&
		      v[0]))
		return true;
	v[0] = v[1] = v[2] = v[3] = 0;
	return false;
}

/* 1: still to be done; 0 and below: how it ended; 2: the runtime does not know the event. */
static cl_int ask_status(const struct gt_table *table, cl_event event)
{
	cl_int status = CL_COMPLETE;

	if (GT_CL(table, clGetEventInfo)(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
					 &status, NULL) != CL_SUCCESS)
		return 2;
	return status > CL_COMPLETE ? 1 : status;
}

static void record(struct gt_thread *t, const struct gt_cl_pending *p, cl_int status,
		   const cl_ulong v[4])
{
	struct gt_record_device *r =
		gt_ring_reserve(t, sizeof *r, GT_CLASS_DEVICE, GT_DOMAIN_OPENCL);

	if (gt_unlikely(!r))
		return;
	r->head = (struct gt_record){sizeof *r / 8, GT_RECORD_DEVICE, (uint8_t)p->op, p->device};
	r->id = p->id;
	r->call_start = p->call_start;
	r->queue = p->queue;
	r->name = p->what.name;
	r->status = status;
	r->queued = v[0];
	r->submitted = v[1];
	r->start = v[2];
	r->end = v[3];
	r->bytes = p->what.bytes;
	for (unsigned i = 0; i < 2; i++)
		r->object[i] = p->what.object[i];
	for (unsigned i = 0; i < 3; i++) {
		r->global[i] = p->what.global[i];
		r->local[i] = p->what.local[i];
	}
	r->ordinal = 0;
	r->replay = p->what.replay;
	gt_ring_commit(t, sizeof *r);
}

/* Ask after one command; if it is done, record it and let its event go. @t: NULL: nothing is
 * recorded any more. */
static bool settle(struct gt_cl_queue *q, struct gt_thread *t, const struct gt_cl_pending *p)
{
	cl_ulong v[4] = {0, 0, 0, 0};
	cl_int status = CL_COMPLETE;

	if (t)
		gt_cl_fetch_ring(t, FETCH_AHEAD, sizeof(struct gt_record_device));
	if (q->untimed || !ask_times(q->table, p->event, v)) {
		status = ask_status(q->table, p->event);
		if (status == 1)
			return false;
		if (status == CL_COMPLETE && !q->untimed) /* it may have completed in between */
			ask_times(q->table, p->event, v);
	}
	/* the program released what was not its own: there is nothing left to ask or to release */
	if (status == 2 && p->recorded)
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_OPENCL, GT_DROP_RUNTIME);
	else if (t && status != 2 && p->recorded)
		record(t, p, status, v);
	if (gt_unlikely(p->item != NULL)) {
		const uint64_t times[4] = {v[0], v[1], v[2], v[3]};

		if (status == 2)
			gt_work_item_drop(p->item, true);
		else
			gt_cl_notify_done(p->item, q->device, status, times);
	}
	if (status != 2)
		GT_CL(q->table, clReleaseEvent)(p->event);
	return true;
}

/* A command that is not done goes behind the others. With q->harvest held. */
static bool move_to_tail(struct gt_cl_queue *q, const struct gt_cl_pending *p, uint32_t epoch)
{
	struct gt_cl_pending *to = NULL;

	if (!queue_lock(&q->push, epoch))
		return false;
	to = tail_entry(q, epoch);
	if (to) {
		*to = *p;
		tail_done(q);
	}
	gt_cl_unlock(&q->push);
	return to != NULL;
}

/* The entry at a position that was pushed and not harvested. A chunk that is behind goes away
 * here, not when its last entry is done: the tail points into it until there is another one. */
static const struct gt_cl_pending *entry_at(struct gt_cl_queue *q, uint64_t at, uint32_t epoch)
{
	struct gt_cl_chunk *behind = q->head;

	if (at == q->head_at + CHUNK) {
		q->head = behind->next;
		q->head_at = at;
		spare_give(behind, epoch);
	}
	return &q->head->entry[at - q->head_at];
}

/* With q->harvest held. */
static uint32_t harvest(struct gt_cl_queue *q, uint64_t limit, uint32_t epoch)
{
	struct gt_thread *t = gt_thread_own();
	uint64_t at = atomic_load_explicit(&q->harvested, memory_order_relaxed);
	uint64_t end = atomic_load_explicit(&q->pushed, memory_order_acquire);
	uint32_t done = 0;
	bool helped;

	if (end - at > limit)
		end = at + limit;
	gt_internal_enter();
	for (; at < end; at++) {
		const struct gt_cl_pending *p = entry_at(q, at, epoch);

		/* harvest_events() leaves entries without one */
		if (gt_unlikely(!p->event) || settle(q, t, p))
			done++;
		else if (!q->out_of_order || !move_to_tail(q, p, epoch))
			break;
		atomic_store_explicit(&q->harvested, at + 1, memory_order_release);
	}
	gt_internal_leave();
	helped = atomic_load_explicit(&q->helped, memory_order_relaxed) && gt_cl_helper_lives();
	atomic_store_explicit(&q->look,
			      (uint32_t)gt_cl_queue_count(q) + (helped ? LOOK_HELPED : LOOK_EVERY),
			      memory_order_relaxed);
	return done;
}

/* Is there something, and is it ours to look at? The epoch; 0: no. */
static uint32_t worth_it(const struct gt_cl_queue *q)
{
	uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);

	if (!gt_cl_queue_count(q) || gt_thread.internal ||
	    atomic_load_explicit(&q->epoch, memory_order_relaxed) != epoch)
		return 0;
	return epoch;
}

uint32_t gt_cl_harvest(struct gt_cl_queue *q, uint32_t limit)
{
	uint32_t epoch = worth_it(q), done;

	if (!epoch || !gt_cl_try_lock(&q->harvest, epoch))
		return 0; /* somebody is at it */
	done = harvest(q, limit, epoch);
	gt_cl_unlock(&q->harvest);
	gt_cl_callbacks_run();
	return done;
}

void gt_cl_harvest_all(struct gt_cl_queue *q)
{
	uint32_t epoch = worth_it(q);

	if (!epoch || !queue_lock(&q->harvest, epoch))
		return;
	harvest(q, UINT64_MAX, epoch);
	gt_cl_unlock(&q->harvest);
	gt_cl_callbacks_run();
}

static bool is_among(const cl_event *events, uint32_t count, cl_event event)
{
	for (uint32_t i = 0; i < count; i++)
		if (events[i] == event)
			return true;
	return false;
}

/* Commands that were waited for, wherever they stand. Their entries stay, without an event. With
 * q->harvest held. */
static void harvest_events(struct gt_cl_queue *q, const cl_event *events, uint32_t count)
{
	uint64_t at = atomic_load_explicit(&q->harvested, memory_order_relaxed), base = q->head_at;
	uint64_t end = atomic_load_explicit(&q->pushed, memory_order_acquire);
	struct gt_thread *t = gt_thread_own();
	struct gt_cl_chunk *c = q->head;

	gt_internal_enter();
	for (uint32_t left = count; at < end && left; at++) {
		struct gt_cl_pending *p;

		if (at == base + CHUNK) {
			c = c->next;
			base = at;
		}
		p = &c->entry[at - base];
		if (p->event && is_among(events, count, p->event) && settle(q, t, p)) {
			p->event = NULL;
			left--;
		}
	}
	gt_internal_leave();
}

void gt_cl_harvest_waited(struct gt_cl_queue *q, const cl_event *events, uint32_t count)
{
	uint32_t epoch;

	if (!q->out_of_order) {
		gt_cl_harvest_all(q);
		return;
	}
	epoch = worth_it(q);
	if (!epoch || !queue_lock(&q->harvest, epoch))
		return;
	/* other threads may go on enqueuing: so many rounds and no more */
	for (uint64_t rounds = gt_cl_queue_count(q) / (LOOK_WAITED / 2) + 1; rounds; rounds--)
		if (harvest(q, LOOK_WAITED, epoch) < LOOK_WAITED / 2)
			break;
	if (gt_cl_queue_count(q))
		harvest_events(q, events, count);
	gt_cl_unlock(&q->harvest);
	gt_cl_callbacks_run();
}

/* The event at a position that was pushed and not harvested. With q->harvest held. */
static cl_event event_at(const struct gt_cl_queue *q, uint64_t at)
{
	const struct gt_cl_chunk *c = q->head;
	uint64_t base = q->head_at;

	for (; at >= base + CHUNK; base += CHUNK)
		c = c->next;
	return c->entry[at - base].event;
}

/* Of a queue in order: how many, in steps, are done with a step behind them that is done as
 * well. With q->harvest held. */
static uint32_t done_behind(struct gt_cl_queue *q)
{
	uint64_t at = atomic_load_explicit(&q->harvested, memory_order_relaxed);
	uint64_t end = atomic_load_explicit(&q->pushed, memory_order_acquire);
	uint32_t done = 0;

	gt_internal_enter();
	while (done < LOOK_AT && end - at >= done + 2 * STEP &&
	       ask_status(q->table, event_at(q, at + done + 2 * STEP - 1)) != 1)
		done += STEP;
	gt_internal_leave();
	return done;
}

/* By an enqueue: what is done, but not what has just been done. A worker of the runtime is
 * there: who asks about that command or lets it go waits for a lock that the worker holds, and
 * the worker for the one who asks. */
static void harvest_behind(struct gt_cl_queue *q)
{
	uint32_t epoch = worth_it(q);

	if (!epoch || !gt_cl_try_lock(&q->harvest, epoch))
		return; /* somebody is at it */
	harvest(q, q->out_of_order ? LOOK_AT : done_behind(q), epoch);
	gt_cl_unlock(&q->harvest);
	gt_cl_callbacks_run();
}

cl_int gt_cl_follow(const struct gt_call *call, cl_command_queue handle, enum gt_device_op op,
		    bool blocking, struct gt_cl_work *w, cl_int ret)
{
	struct gt_cl_queue *q = NULL;
	bool followed = false;
	uint64_t count;

	if (gt_unlikely(!w->table)) {
		if (w->item)
			notify_exit(w, ret, false);
		return ret;
	}
	if (gt_unlikely(w->shown != NULL))
		gt_cl_shown_end(w, ret);
	if (gt_likely(ret == CL_SUCCESS)) {
		if (gt_likely(w->recorded))
			gt_device_seen(w->thread, GT_DOMAIN_OPENCL);
		q = gt_cl_queue_get(w->table, w->thread, handle);
		if (gt_unlikely(w->item != NULL))
			gt_cl_notify_enter(w, q, op);
		followed = follow(call, q, op, w);
	}
	if (w->wanted && !w->shown && w->event != GT_CL_NO_EVENT)
		*w->wanted = w->event;
	if (gt_unlikely(w->item != NULL))
		notify_exit(w, ret, followed);
	if (gt_unlikely(!q))
		return ret;
	count = gt_cl_queue_count(q);
	if ((count == 1 && !blocking) || gt_unlikely(w->item != NULL))
		gt_cl_helper_want(w->thread);
	if (blocking)
		gt_cl_harvest_waited(q, &w->event, 1);
	else if (gt_unlikely(count >= atomic_load_explicit(&q->look, memory_order_relaxed)))
		harvest_behind(q);
	return ret;
}

uint32_t gt_cl_event_references(struct gt_cl_queue *q, cl_event event, bool *locked)
{
	uint32_t epoch = worth_it(q), ours = 0;
	const struct gt_cl_chunk *c;
	uint64_t end;

	*locked = epoch && queue_lock(&q->harvest, epoch);
	if (!*locked)
		return 0;
	c = q->head;
	end = atomic_load_explicit(&q->pushed, memory_order_acquire);
	for (uint64_t at = q->harvested, base = q->head_at; at < end; at++) {
		if (at == base + CHUNK) {
			c = c->next;
			base = at;
		}
		ours += c->entry[at - base].event == event;
	}
	return ours;
}
