/* SPDX-License-Identifier: MIT */
/* The harvest of work in flight: what has completed is recorded, and its event is released.
 *
 *   a queue's list (activity_pending.h), oldest first:   [done][done][done][running][waiting] ..
 *                                                         ▲ harvested                      ▲ pushed
 *
 * A thread that has the queue's `harvest` lock looks at one entry after the other:
 *   1. It asks the runtime for the command's times.
 *   2. If the command is done, it writes the record into its own thread's ring, and releases the
 *      event.
 *   3. If not, and the queue runs in order, the harvest ends: nothing behind can be done. If the
 *      queue runs out of order, the entry is written again at the tail, and the next one is asked.
 * An entry becomes a record or a drop, or is still in its list when the process ends.
 *
 * Which thread harvests:
 *   the device is the host   The thread that enqueues, LOOK_AT commands at most. The helper
 *                            harvests what no call of the program does; no processor is idle for
 *                            it there. Events must be released soon, because runtimes use their
 *                            memory again: when 100,000 events of PoCL were kept until the program
 *                            waited, each enqueue cost twice as much.
 *   any other device         The helper, beside the program: one question takes microseconds
 *                            (NVIDIA: 1.4 us).
 *
 * An enqueue asks rarely, and only about commands well behind the last one that is done. The
 * runtime's workers take the locks of recent events and of the heap, which do not spin. A thread
 * that meets a worker there sleeps, and so does the worker: with PoCL, 100,000 kernels and one look
 * every 32 enqueues up to the last command that is done, 0.4 us a kernel. After a wait of the
 * program's everything is done, and all is harvested at once. */
#include "runtime/opencl/activity_pending.h"

enum {
	LOOK_EVERY = 512,    /* enqueues between two harvests of a queue */
	LOOK_HELPED = 16384, /* the same where the helper harvests: should it not keep up */
	LOOK_AT = 1024,      /* commands that an enqueue harvests at most */
	/* of a queue in order: so many commands at once, and so many between them and those that
	 * a worker of the runtime may be at */
	STEP = 128,
	/* of a queue out of order: commands that a wait looks at; again while half of them are
	 * done */
	LOOK_WAITED = 256,
	FETCH_AHEAD = 384, /* bytes of the ring: three records on */
};

_Atomic uint32_t gt_cl_helper_alive;

/* Asks for the end first: a runtime refuses that one until the command is done. False: it is not
 * done, or has no times. */
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

static void record_command(struct gt_thread *t, const struct gt_cl_pending *p, cl_int status,
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
static bool settle_command(struct gt_cl_queue *q, struct gt_thread *t,
			   const struct gt_cl_pending *p)
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
		record_command(t, p, status, v);
	if (gt_unlikely(p->item != NULL)) {
		const uint64_t times[4] = {v[0], v[1], v[2], v[3]};

		if (status == 2)
			gt_work_item_drop(p->item, true);
		else
			gt_cl_item_complete(p->item, q->device, status, times);
	}
	if (status != 2)
		GT_CL(q->table, clReleaseEvent)(p->event);
	return true;
}

/* A command that is not done goes behind the others. With q->harvest held. */
static bool move_to_tail(struct gt_cl_queue *q, const struct gt_cl_pending *p, uint32_t epoch)
{
	struct gt_cl_pending *to = NULL;

	if (!gt_cl_queue_lock(&q->push, epoch))
		return false;
	to = gt_cl_tail_entry(q, epoch);
	if (to) {
		*to = *p;
		gt_cl_tail_commit(q);
	}
	gt_cl_lock_release(&q->push);
	return to != NULL;
}

/* With q->harvest held. */
static uint32_t harvest_entries(struct gt_cl_queue *q, uint64_t limit, uint32_t epoch)
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
		const struct gt_cl_pending *p = gt_cl_head_entry(q, at, epoch);

		/* harvest_events() leaves entries without one */
		if (gt_unlikely(!p->event) || settle_command(q, t, p))
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

uint32_t gt_cl_queue_harvest(struct gt_cl_queue *q, uint32_t limit)
{
	uint32_t epoch = gt_cl_queue_epoch(q), done;

	if (!epoch || !gt_cl_lock_try(&q->harvest, epoch))
		return 0; /* somebody is at it */
	done = harvest_entries(q, limit, epoch);
	gt_cl_lock_release(&q->harvest);
	gt_cl_callbacks_run();
	return done;
}

void gt_cl_queue_harvest_all(struct gt_cl_queue *q)
{
	uint32_t epoch = gt_cl_queue_epoch(q);

	if (!epoch || !gt_cl_queue_lock(&q->harvest, epoch))
		return;
	harvest_entries(q, UINT64_MAX, epoch);
	gt_cl_lock_release(&q->harvest);
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
	uint64_t at = atomic_load_explicit(&q->harvested, memory_order_relaxed);
	uint64_t end = atomic_load_explicit(&q->pushed, memory_order_acquire);
	struct gt_cl_cursor c = gt_cl_cursor_start(q);
	struct gt_thread *t = gt_thread_own();

	gt_internal_enter();
	for (uint32_t left = count; at < end && left; at++) {
		struct gt_cl_pending *p = gt_cl_cursor_entry(&c, at);

		if (p->event && is_among(events, count, p->event) && settle_command(q, t, p)) {
			p->event = NULL;
			left--;
		}
	}
	gt_internal_leave();
}

void gt_cl_queue_harvest_waited(struct gt_cl_queue *q, const cl_event *events, uint32_t count)
{
	uint32_t epoch;

	if (!q->out_of_order) {
		gt_cl_queue_harvest_all(q);
		return;
	}
	epoch = gt_cl_queue_epoch(q);
	if (!epoch || !gt_cl_queue_lock(&q->harvest, epoch))
		return;
	/* other threads may go on enqueuing: so many rounds and no more */
	for (uint64_t rounds = gt_cl_queue_count(q) / (LOOK_WAITED / 2) + 1; rounds; rounds--)
		if (harvest_entries(q, LOOK_WAITED, epoch) < LOOK_WAITED / 2)
			break;
	if (gt_cl_queue_count(q))
		harvest_events(q, events, count);
	gt_cl_lock_release(&q->harvest);
	gt_cl_callbacks_run();
}

/* Of a queue in order: how many commands have at least STEP commands behind them that are done,
 * too; in steps of STEP. With q->harvest held. */
static uint32_t done_behind(struct gt_cl_queue *q)
{
	uint64_t at = atomic_load_explicit(&q->harvested, memory_order_relaxed);
	uint64_t end = atomic_load_explicit(&q->pushed, memory_order_acquire);
	struct gt_cl_cursor c = gt_cl_cursor_start(q);
	uint32_t done = 0;

	gt_internal_enter();
	while (done < LOOK_AT && end - at >= done + 2 * STEP &&
	       ask_status(q->table, gt_cl_cursor_entry(&c, at + done + 2 * STEP - 1)->event) != 1)
		done += STEP;
	gt_internal_leave();
	return done;
}

void gt_cl_queue_harvest_behind(struct gt_cl_queue *q)
{
	uint32_t epoch = gt_cl_queue_epoch(q);

	if (!epoch || !gt_cl_lock_try(&q->harvest, epoch))
		return; /* somebody is at it */
	harvest_entries(q, q->out_of_order ? LOOK_AT : done_behind(q), epoch);
	gt_cl_lock_release(&q->harvest);
	gt_cl_callbacks_run();
}
