/* SPDX-License-Identifier: MIT */
/* What has completed. A queue's items are looked at from the first on; those whose event is
 * signalled get the times that it holds. An item without such an event has completed when the
 * program has waited for its queue, and has no times then. Nothing is waited for here.
 *
 * Items leave their queue with the lock held; tools are notified of them without it. */
#include "runtime/level_zero/level_zero_objects.h"

enum { BATCH = 64, NOT_READY_MAX = 8 };

struct ended {
	struct gt_work *work;
	struct gt_work_times times;
	uint64_t start_ns, end_ns;
};

struct batch {
	unsigned count;
	struct ended items[BATCH];
};

static void notify_ended(const struct batch *b)
{
	for (unsigned i = 0; i < b->count; i++)
		gt_work_completed(b->items[i].work, 0, &b->items[i].times, b->items[i].start_ns,
				  b->items[i].end_ns);
}

static bool read_times(const struct gt_lz_queue *queue, const void *event, struct ended *e)
{
	struct lz_kernel_times t;

	if (GT_LZ(queue->table, zeEventQueryKernelTimestamp)((void *)event, &t))
		return false;
	gt_lz_clock_read(queue->device, gt_thread_own());
	e->times.start = gt_lz_clock_ns(queue->device, t.start, &e->start_ns);
	/* a stamp of its own: it may lie behind the clock's last reading, and the start not */
	e->times.end = gt_lz_clock_ns(queue->device, t.end, &e->end_ns);
	return true;
}

/* Is it done? What is known of its end goes into @e. */
static bool has_ended(const struct gt_lz_queue *queue, const struct gt_lz_item *i, uint64_t until,
		      struct ended *e)
{
	bool waited = i->sequence <= until;

	*e = (struct ended){.work = i->work};
	if (!i->work)
		return true;
	if (!i->event || (i->dirty && !waited))
		return waited;
	if (GT_LZ(queue->table, zeEventQueryStatus)(i->event) != LZ_SUCCESS)
		return waited;
	read_times(queue, i->event, e);
	return true;
}

/* With the lock held: one batch. */
static void harvest_batch(struct gt_lz_queue *queue, uint64_t until, struct batch *b)
{
	struct gt_lz_item **at = &queue->first, *before = NULL;
	unsigned waiting = 0;

	b->count = 0;
	while (*at && b->count < BATCH && waiting < NOT_READY_MAX) {
		struct gt_lz_item *i = *at;

		if (!has_ended(queue, i, until, &b->items[b->count])) {
			waiting++;
			before = i;
			at = &i->next;
			continue;
		}
		b->count++;
		*at = i->next;
		if (queue->last == i)
			queue->last = before;
		queue->count--;
		gt_lz_use_event(i->event, -1);
		if (i->own)
			gt_lz_own_give(queue->context, i->own);
		gt_lz_give(i);
	}
	queue->look = queue->count + 256;
}

void gt_lz_harvest(const void *handle, uint64_t until)
{
	struct gt_lz_queue *queue;
	struct batch b;

	do {
		b.count = 0;
		gt_lz_lock();
		queue = gt_lz_find(GT_LZ_QUEUE, handle);
		if (queue && queue->first)
			harvest_batch(queue, until, &b);
		gt_lz_unlock();
		notify_ended(&b);
	} while (b.count == BATCH);
}

void gt_lz_harvest_all(void)
{
	struct batch b;
	bool more = true;

	while (more) {
		more = false;
		b.count = 0;
		gt_lz_lock();
		for (struct gt_lz_queue *queue = gt_lz_queues(); queue && !b.count;
		     queue = queue->next) {
			if (!queue->first)
				continue;
			harvest_batch(queue, 0, &b);
			more |= b.count != 0;
		}
		gt_lz_unlock();
		notify_ended(&b);
	}
}

/* The item's event tells nothing of it from now on. If it is done, this is what it told. */
static void detach_item(struct gt_lz_queue *queue, struct gt_lz_item *i, struct batch *b)
{
	struct ended e = {.work = i->work};

	if (b->count < BATCH && !i->dirty &&
	    GT_LZ(queue->table, zeEventQueryStatus)(i->event) == LZ_SUCCESS &&
	    read_times(queue, i->event, &e)) {
		b->items[b->count++] = e;
		i->work = NULL; /* the harvest takes the item away */
	}
	gt_lz_use_event(i->event, -1);
	i->event = NULL;
}

void gt_lz_event_detach(const void *event)
{
	const struct gt_lz_event *e;
	struct batch b = {0};

	gt_lz_lock();
	e = gt_lz_find(GT_LZ_EVENT, event);
	for (struct gt_lz_queue *queue = e && e->in_flight ? gt_lz_queues() : NULL; queue;
	     queue = queue->next)
		for (struct gt_lz_item *i = queue->first; i; i = i->next)
			if (i->event == event && !i->own)
				detach_item(queue, i, &b);
	gt_lz_unlock();
	notify_ended(&b);
}

void gt_lz_list_prepare(struct gt_lz_list *list)
{
	struct gt_lz_queue *queue;
	struct batch b = {0};
	bool more = false;

	if (!list->ran)
		return;
	gt_lz_harvest(list->ran, 0);
	gt_lz_lock();
	queue = gt_lz_find(GT_LZ_QUEUE, list->ran);
	for (struct gt_lz_item *i = queue ? queue->first : NULL; i; i = i->next)
		if (i->list == list->object.handle && i->event) {
			detach_item(queue, i, &b);
			more |= i->work != NULL;
		}
	if (!more)
		list->ran = NULL; /* all of it is done: its events may be reset */
	for (struct gt_lz_entry *e = list->first; e && !more; e = e->next)
		if (e->own)
			GT_LZ(list->table, zeEventHostReset)(e->own->event);
	gt_lz_unlock();
	notify_ended(&b);
}

void gt_lz_list_empty(struct gt_lz_list *list)
{
	gt_lz_list_prepare(list);
	gt_lz_lock();
	for (struct gt_lz_entry *e = list->first, *next; e; e = next) {
		next = e->next;
		if (e->own)
			gt_lz_own_give(list->context, e->own);
		gt_lz_give(e);
	}
	list->first = list->last = NULL;
	list->ran = NULL;
	gt_lz_unlock();
}
