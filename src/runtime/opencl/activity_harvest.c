/* SPDX-License-Identifier: MIT */
/* The harvest of activities in flight: records completed activities and releases their events.
 *
 *   a queue's list (activity_pending.h), oldest first:   [done][done][done][running][waiting] ..
 *                                                         ▲ harvested                      ▲ pushed
 *
 * A thread that holds the queue's `harvest` lock examines the entries in sequence:
 *   1. The thread queries the runtime for the command's times.
 *   2. If the command is done, the thread writes the record into its own ring, and releases the
 *      event.
 *   3. If the command is not done and the queue is in-order, the harvest ends, because no later
 *      command can be done. In an out-of-order queue, the entry is moved to the tail, and the next
 *      one is examined.
 * An entry becomes a record or a drop, or is still in its list when the process ends.
 *
 * The harvesting thread depends on the device:
 *   the device is the host   The enqueuing thread, at most LOOK_AT commands. The helper, which has
 *                            no idle processor on such a machine, harvests commands that no call of
 *                            the program harvests. Events must be released soon, because runtimes
 *                            reuse their memory: when 100,000 events of PoCL were kept until the
 *                            program waited, each enqueue cost twice as much.
 *   any other device         The helper, in parallel with the program: one query takes microseconds
 *                            (NVIDIA: 1.4 us).
 *
 * An enqueue queries rarely, and only commands well before the last one that is done. The runtime's
 * workers take the locks of recent events and of the heap, which do not spin. A thread that waits
 * for a worker there sleeps, and then the worker does too: with PoCL, 100,000 kernels, and one look
 * every 32 enqueues up to the last command that is done, this cost 0.4 us per kernel. After the
 * program has waited, all commands are done, and all are harvested at once. */
#include "runtime/opencl/activity_pending.h"

enum {
	LOOK_EVERY = 512, /* enqueues between two harvests of a queue */
	/* same, for queues that the helper harvests, in case the helper falls behind */
	LOOK_HELPED = 16384,
	LOOK_AT = 1024, /* maximum number of commands that an enqueue harvests */
	/* in-order queues: number of commands harvested at once, and distance to commands that a
	 * worker of the runtime may be using */
	STEP = 128,
	/* out-of-order queues: number of commands that a wait examines; the wait continues with
	 * more commands while half of the examined ones are done */
	LOOK_WAITED = 256,
	FETCH_AHEAD = 384, /* bytes ahead in the ring: three records */
};

_Atomic uint32_t gt_cl_helper_alive;

/* Query the times, END first, because a runtime refuses that query until the command is done.
 * Return false if the command is not done or has no times. */
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

/* Return 1: not done; 0 or negative: final status of the command; 2: the runtime does not know the
 * event. */
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

/* Query a command. If the command is done, record it and release its event. @t: NULL: recording has
 * ended */
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
		if (status == CL_COMPLETE &&
		    !q->untimed) /* the command may have completed since the query */
			ask_times(q->table, p->event, v);
	}
	if (gt_unlikely(q->enabled_late) && status == CL_COMPLETE && !v[3]) {
		q->enabled_late = false; /* the runtime has not kept its word */
		q->untimed = true;
		gt_cl_queue_name_untimed(q);
	}
	/* The program released a reference that it did not own, so the event can no longer be
	 * queried or released. */
	if (status == 2 && p->recorded)
		gt_drop(t, GT_CLASS_DEVICE, GT_DOMAIN_OPENCL, GT_DROP_RUNTIME);
	else if (t && status != 2 && p->recorded)
		record_command(t, p, status, v);
	if (gt_unlikely(p->tool_activity != NULL)) {
		const uint64_t times[4] = {v[0], v[1], v[2], v[3]};

		if (status == 2)
			gt_tool_activity_drop(p->tool_activity, true);
		else
			gt_cl_complete_tool_activity(p->tool_activity, q->device, status, times);
	}
	if (status != 2)
		GT_CL(q->table, clReleaseEvent)(p->event);
	return true;
}

/* Move a command that is not done to the tail. The caller must hold q->harvest. */
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

/* Harvest at most @limit entries. Return the number of completed commands. The caller must hold
 * q->harvest. */
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

		/* harvest_events() leaves entries without an event */
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
		return 0; /* another thread is harvesting */
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

/* Harvest commands for which the program has waited, at any position in the list. Their entries
 * stay in the list without an event. The caller must hold q->harvest. */
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
	/* Limits the number of rounds, because other threads may continue to enqueue. */
	for (uint64_t rounds = gt_cl_queue_count(q) / (LOOK_WAITED / 2) + 1; rounds; rounds--)
		if (harvest_entries(q, LOOK_WAITED, epoch) < LOOK_WAITED / 2)
			break;
	if (gt_cl_queue_count(q))
		harvest_events(q, events, count);
	gt_cl_lock_release(&q->harvest);
	gt_cl_callbacks_run();
}

/* Return how many commands of an in-order queue are followed by at least STEP completed commands,
 * rounded to STEP. The caller must hold q->harvest. */
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
		return; /* another thread is harvesting */
	harvest_entries(q, q->out_of_order ? LOOK_AT : done_behind(q), epoch);
	gt_cl_lock_release(&q->harvest);
	gt_cl_callbacks_run();
}
