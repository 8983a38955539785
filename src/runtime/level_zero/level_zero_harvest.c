/* SPDX-License-Identifier: MIT */
/* Harvests completed activities. The pending activities of a queue are examined in order, starting
 * with the oldest. A pending activity whose event is signalled gets the event's times. A pending
 * activity without a usable event is considered completed once the program has waited for its
 * queue, and has no times. No function here waits.
 *
 * Activities are removed from their queue with the queue's lock held; tools are notified of them
 * without the lock.
 *
 * If an event is reused while an activity of the same immediate list uses it, the device first
 * copies the event's times into gputap's memory (keep_item_times()). In other cases of reuse, the
 * times are unknown, and an event in the capture reports this once.
 * NEEDSWORK: a copy in the other list could preserve the times if the command that reuses the event
 * waits for that activity, possibly indirectly; gputap would have to know this for each command. A
 * wait in gputap might never end, because the activity may be waiting for the program's next
 * action. */
#include "runtime/level_zero/level_zero_objects.h"

enum { BATCH = 64, NOT_READY_MAX = 8, LOOK_EACH = 256 };

struct ended {
	struct gt_activity *activity;
	struct gt_activity_times times;
	uint64_t start_ns, end_ns;
};

struct batch {
	struct gt_lz_anchor known; /* ns is 0 before the clock is read for this batch */
	unsigned count;
	struct ended items[BATCH];
};

static void notify_ended(const struct batch *b)
{
	for (unsigned i = 0; i < b->count; i++)
		gt_activity_completed(b->items[i].activity, 0, &b->items[i].times,
				      b->items[i].start_ns, b->items[i].end_ns);
}

/* Read the pending activity's times. Return false if no valid times exist. Time stamps of 0 are
 * invalid. */
static bool read_times(const struct gt_lz_queue *queue, const struct gt_lz_activity *i,
		       struct ended *e, struct gt_lz_anchor *known)
{
	struct lz_kernel_times t;

	if (i->times)
		t = *i->times;
	else if (GT_LZ(queue->table, zeEventQueryKernelTimestamp)(i->event, &t))
		return false;
	if (!t.start && !t.end)
		return false;
	if (!known->ns) {
		gt_lz_clock_read(queue->device, gt_thread_own());
		*known = gt_lz_clock_anchor(queue->device);
	}
	e->times.start = gt_lz_clock_ns(queue->device, *known, t.start, &e->start_ns);
	/* converted separately: only the end may be after the clock's last reading */
	e->times.end = gt_lz_clock_ns(queue->device, *known, t.end, &e->end_ns);
	return true;
}

/* Return true if the pending activity is done. Fill in @e with its end, if known. Times that the
 * device copies arrive slightly after the program learns that the activity is done. */
static bool has_ended(const struct gt_lz_queue *queue, const struct gt_lz_activity *i,
		      uint64_t until, struct ended *e, struct gt_lz_anchor *known)
{
	bool waited = i->sequence <= until;

	*e = (struct ended){.activity = i->activity};
	if (!i->activity)
		return true;
	if (!i->event || (i->dirty && !waited))
		return waited;
	if (GT_LZ(queue->table, zeEventQueryStatus)(i->event) != LZ_SUCCESS)
		return i->times ? until == UINT64_MAX : waited;
	if (!i->untimed)
		read_times(queue, i, e, known);
	return true;
}

static void end_use(struct gt_lz_activity *i)
{
	if (i->program)
		atomic_fetch_sub_explicit(&i->program->in_flight, 1, memory_order_relaxed);
	if (i->readback)
		atomic_fetch_sub_explicit(&i->readback->users, 1, memory_order_release);
	i->program = NULL;
	i->readback = NULL;
}

static void take_away(struct gt_lz_queue *queue, struct gt_lz_activity **at,
		      struct gt_lz_activity *before)
{
	struct gt_lz_activity *i = *at;

	*at = i->next;
	if (queue->last == i)
		queue->last = before;
	atomic_fetch_sub_explicit(&queue->count, 1, memory_order_relaxed);
	end_use(i);
	if (i->own)
		gt_lz_own_give(queue->table, &queue->own, i->own);
	gt_lz_give(&queue->items, i);
}

/* Harvest one batch. The caller holds the queue's lock. */
static void harvest_batch(struct gt_lz_queue *queue, uint64_t until, struct batch *b)
{
	struct gt_lz_activity **at = &queue->first, *before = NULL;
	unsigned waiting = 0;

	b->count = 0;
	b->known.ns = 0;
	while (*at && b->count < BATCH && waiting < NOT_READY_MAX) {
		if (has_ended(queue, *at, until, &b->items[b->count], &b->known)) {
			b->count++;
			take_away(queue, at, before);
			continue;
		}
		waiting++;
		before = *at;
		at = &before->next;
	}
	queue->look = atomic_load_explicit(&queue->count, memory_order_relaxed) + LOOK_EACH;
}

static bool is_empty(const struct gt_lz_queue *queue)
{
	return !atomic_load_explicit(&queue->count, memory_order_relaxed);
}

void gt_lz_harvest(struct gt_lz_queue *queue, uint64_t until)
{
	struct batch b;

	if (is_empty(queue))
		return;
	do {
		gt_lz_lock(&queue->lock);
		harvest_batch(queue, until, &b);
		gt_lz_unlock(&queue->lock);
		notify_ended(&b);
	} while (b.count == BATCH);
}

/* Harvest all queues. Skip queues whose lock another thread holds. */
void gt_lz_harvest_all(void)
{
	struct batch b;

	for (struct gt_lz_queue *queue = gt_lz_queues(); queue; queue = queue->next)
		while (!is_empty(queue) && gt_lz_try_lock(&queue->lock)) {
			harvest_batch(queue, 0, &b);
			gt_lz_unlock(&queue->lock);
			notify_ended(&b);
			if (b.count < BATCH)
				break;
		}
}

/* Append the pending activity to the queue. If out of memory, the pending activity ends here,
 * without times. */
void gt_lz_push(struct gt_lz_queue *queue, const struct gt_lz_activity *pending)
{
	struct gt_lz_activity *i;
	bool look = false;

	if (!pending->activity)
		return;
	gt_lz_lock(&queue->lock);
	i = gt_lz_take(&queue->items);
	if (i) {
		*i = *pending;
		i->sequence = atomic_load_explicit(&queue->submitted, memory_order_relaxed) + 1;
		atomic_store_explicit(&queue->submitted, i->sequence, memory_order_relaxed);
		*(queue->last ? &queue->last->next : &queue->first) = i;
		queue->last = i;
		look = atomic_fetch_add_explicit(&queue->count, 1, memory_order_relaxed) >=
		       queue->look;
		if (i->program) {
			atomic_fetch_add_explicit(&i->program->in_flight, 1, memory_order_relaxed);
			atomic_store_explicit(&i->program->queue, queue, memory_order_relaxed);
			atomic_store_explicit(&i->program->used, true, memory_order_relaxed);
		}
	}
	gt_lz_unlock(&queue->lock);
	if (!i)
		gt_activity_completed(pending->activity, 0, &(struct gt_activity_times){0}, 0, 0);
	if (look)
		gt_lz_harvest(queue, 0);
}

/* Reuse of an event ---------------------------------------------------------------- */

/* Append a command to @list that copies the pending activity's times. The pending activity is done
 * when that command is done. If the event may have been signalled earlier, it cannot show when the
 * pending activity is done, so a barrier precedes the command. */
static int append_query(const struct gt_lz_queue *queue, struct gt_lz_activity *i, void *list,
			struct lz_kernel_times *times, void *done)
{
	int status =
		i->dirty ? GT_LZ(queue->table, zeCommandListAppendBarrier)(list, NULL, 0, NULL) : 0;

	return status ? status
		      : GT_LZ(queue->table, zeCommandListAppendQueryKernelTimestamps)(
				list, 1, &i->event, times, NULL, done, i->dirty ? 0 : 1,
				i->dirty ? NULL : &i->event);
}

static bool keep_item_times(struct gt_lz_queue *queue, struct gt_lz_activity *i,
			    const struct gt_lz_list *list)
{
	struct lz_kernel_times *times;
	struct gt_lz_own *own;

	if (i->times || !GT_LZ(queue->table, zeCommandListAppendQueryKernelTimestamps) ||
	    !GT_LZ(queue->table, zeCommandListAppendBarrier))
		return false;
	own = gt_lz_own_take(queue->table, queue->context, &queue->own);
	times = own ? gt_lz_own_times(queue->table, queue->context, own) : NULL;
	if (!times || append_query(queue, i, (void *)list->object.handle, times, own->event)) {
		if (own)
			gt_lz_own_give(queue->table, &queue->own, own);
		return false;
	}
	end_use(i);
	i->own = own;
	i->event = own->event;
	i->times = times;
	i->dirty = false;
	return true;
}

static void name_event(const struct gt_lz_queue *queue, struct gt_lz_event *event)
{
	if (!atomic_exchange(&event->named, true))
		gt_event_write(gt_thread_own(), GT_EVENT_PROFILING, GT_DOMAIN_LEVEL_ZERO,
			       queue->number,
			       "an event was reused before its activity was known to have ended");
}

/* Stop using the pending activity's event. If the pending activity is done, take its times from the
 * event. */
static void detach_item(struct gt_lz_queue *queue, struct gt_lz_activity *i,
			const struct gt_lz_list *list, bool ask, struct batch *b)
{
	struct ended e = {.activity = i->activity};

	if (ask && b->count < BATCH && !i->dirty &&
	    GT_LZ(queue->table, zeEventQueryStatus)(i->event) == LZ_SUCCESS &&
	    (i->untimed || read_times(queue, i, &e, &b->known))) {
		b->items[b->count++] = e;
		i->activity = NULL; /* the harvest removes the pending activity */
	} else if (list && list->queue == queue && !i->untimed && keep_item_times(queue, i, list)) {
		return;
	} else if (!i->untimed) {
		name_event(queue, i->program);
	}
	end_use(i);
	i->event = NULL;
}

static void detach_in(struct gt_lz_queue *queue, const struct gt_lz_event *event,
		      const struct gt_lz_list *list, bool ask)
{
	struct batch b = {.count = 0};

	gt_lz_lock(&queue->lock);
	for (struct gt_lz_activity *i = queue->first; i; i = i->next)
		if (i->program == event)
			detach_item(queue, i, list, ask, &b);
	gt_lz_unlock(&queue->lock);
	notify_ended(&b);
}

/* Detach an event from all its pending activities. Usually all of these pending activities are in
 * one queue. */
void gt_lz_event_detach(struct gt_lz_event *event, const struct gt_lz_list *list, bool ask)
{
	struct gt_lz_queue *queue = atomic_load_explicit(&event->queue, memory_order_relaxed);

	if (!atomic_load_explicit(&event->in_flight, memory_order_relaxed))
		return;
	if (queue)
		detach_in(queue, event, list, ask);
	for (queue = gt_lz_queues();
	     queue && atomic_load_explicit(&event->in_flight, memory_order_relaxed);
	     queue = queue->next)
		if (!is_empty(queue))
			detach_in(queue, event, list, ask);
}
