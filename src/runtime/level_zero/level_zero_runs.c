/* SPDX-License-Identifier: MIT */
/* Records runs of regular lists. A command has one event for all runs of its list:
 *
 *   the last run is known to be done   its times are read, and gputap's events are reset
 *   the last run may be running on     a gputap list goes to the queue before the program's list:
 *   the same queue                     the device copies the events' times into gputap's memory (a
 *                                      readback) for the last run
 *   the last run may be running on     the last run's times are unknown; an event in the capture
 *   another queue or in the same call  reports this once per list
 *
 * Events that were signalled before a run give no information about the run. Activities with such
 * events are done when the program has waited for their queue, and have the times of the last run.
 * If a later command of a list resets a command's event or signals it again, the event's times are
 * copied within the list. No function here waits. */
#include "runtime/level_zero/level_zero_late.h"
#include "runtime/level_zero/level_zero_objects.h"

#define REAL(name) ((gt_level_zero_##name##_fn *)call->tap->real)

enum { READBACKS_MAX = 64, QUERIES = 64 };

void gt_lz_list_name(struct gt_lz_list *list, uint64_t queue, const char *why)
{
	if (!list->named)
		gt_event_write(gt_thread_own(), GT_EVENT_PROFILING, GT_DOMAIN_LEVEL_ZERO, queue,
			       why);
	list->named = true;
}

static void name_list(struct gt_lz_list *list, const struct gt_lz_queue *queue, const char *why)
{
	gt_lz_list_name(list, queue->number, why);
}

/* Readbacks --------------------------------------------------------------------------- */

static uint32_t count_entries(const struct gt_lz_list *list)
{
	uint32_t n = 0;

	for (const struct gt_lz_entry *e = list->first; e; e = e->next)
		n++;
	return n;
}

static int append_query(const struct gt_lz_list *list, const struct gt_lz_readback *r,
			uint32_t count, void **events, uint32_t first)
{
	return count ? GT_LZ(list->table,
			     zeCommandListAppendQueryKernelTimestamps)(r->list, count, events,
								       r->times + first, NULL, NULL,
								       0, NULL)
		     : 0;
}

/* Copy the times of all entries, each to its element of r->times. Consecutive events are copied
 * together. */
static int append_queries(const struct gt_lz_list *list, const struct gt_lz_readback *r)
{
	void *events[QUERIES];
	uint32_t ordinal = 0, count = 0;
	int status = 0;

	for (const struct gt_lz_entry *e = list->first; e && !status; e = e->next, ordinal++) {
		if (count && (count == QUERIES || e->times || !e->event)) {
			status = append_query(list, r, count, events, ordinal - count);
			count = 0;
		}
		if (e->times)
			status |= GT_LZ(list->table,
					zeCommandListAppendMemoryCopy)(r->list, r->times + ordinal,
								       e->times, sizeof *e->times,
								       NULL, 0, NULL);
		else if (e->event)
			events[count++] = e->event;
	}
	return status ? status : append_query(list, r, count, events, ordinal - count);
}

static int append_all(const struct gt_lz_list *list, const struct gt_lz_readback *r)
{
	int status = GT_LZ(list->table, zeCommandListAppendBarrier)(r->list, NULL, 0, NULL);

	status |= append_queries(list, r);
	status |= GT_LZ(list->table, zeCommandListAppendBarrier)(r->list, r->done->event, 0, NULL);
	return status | GT_LZ(list->table, zeCommandListClose)(r->list);
}

static void destroy_readback(struct gt_lz_list *list, struct gt_lz_readback *r)
{
	if (r->list)
		GT_LZ(list->table, zeCommandListDestroy)(r->list);
	if (r->times)
		GT_LZ(list->table, zeMemFree)((void *)list->context, r->times);
	if (r->done)
		gt_lz_own_give(list->table, &list->own, r->done);
	gt_lz_give(NULL, r);
}

static bool can_read_back(const struct gt_table *table)
{
	return GT_LZ(table, zeCommandListCreate) && GT_LZ(table, zeCommandListClose) &&
	       GT_LZ(table, zeCommandListDestroy) && GT_LZ(table, zeCommandListAppendBarrier) &&
	       GT_LZ(table, zeCommandListAppendMemoryCopy) &&
	       GT_LZ(table, zeCommandListAppendQueryKernelTimestamps);
}

static struct gt_lz_readback *make_readback(struct gt_lz_list *list)
{
	const struct lz_list_desc desc = {.head = {LZ_LIST_DESC, NULL}, .ordinal = list->ordinal};
	struct gt_lz_readback *r;

	if (list->readback_count >= READBACKS_MAX || !can_read_back(list->table))
		return NULL;
	r = gt_lz_take(NULL);
	if (!r)
		return NULL;
	r->done = gt_lz_own_take(list->table, list->context, &list->own);
	r->times = gt_lz_host_memory(list->table, list->context,
				     count_entries(list) * sizeof *r->times);
	if (!r->done || !r->times ||
	    GT_LZ(list->table, zeCommandListCreate)((void *)list->context,
						    (void *)list->device->object.handle, &desc,
						    &r->list) ||
	    append_all(list, r)) {
		destroy_readback(list, r);
		return NULL;
	}
	r->next = list->readbacks;
	list->readbacks = r;
	list->readback_count++;
	return r;
}

/* Return a readback that no run uses, or a new readback. */
static struct gt_lz_readback *take_readback(struct gt_lz_list *list)
{
	for (struct gt_lz_readback *r = list->readbacks; r; r = r->next)
		if (!atomic_load_explicit(&r->users, memory_order_acquire) &&
		    !GT_LZ(list->table, zeEventHostReset)(r->done->event))
			return r;
	return make_readback(list);
}

/* Before a run ------------------------------------------------------------------------ */

/* Return the number of the run's unfinished pending activities. The caller holds the queue's
 * lock. */
static uint32_t count_items(const struct gt_lz_queue *queue, const struct gt_lz_list *list)
{
	uint32_t n = 0;

	for (const struct gt_lz_activity *i = queue->first; i; i = i->next)
		n += i->list == list->object.handle && i->activity && i->event && !i->readback;
	return n;
}

/* Redirect pending activities that use @was to the times in @r. @r: NULL if the times are
 * unknown. */
static void give_readback(struct gt_lz_queue *queue, const struct gt_lz_list *list,
			  const struct gt_lz_readback *was, struct gt_lz_readback *r)
{
	gt_lz_lock(&queue->lock);
	for (struct gt_lz_activity *i = queue->first; i; i = i->next) {
		if (i->list != list->object.handle || !i->activity || !i->event ||
		    i->readback != was)
			continue;
		if (i->program)
			atomic_fetch_sub_explicit(&i->program->in_flight, 1, memory_order_relaxed);
		if (i->readback)
			atomic_fetch_sub_explicit(&i->readback->users, 1, memory_order_release);
		i->program = NULL;
		i->readback = r;
		i->event = r ? r->done->event : NULL;
		i->times = r ? r->times + i->ordinal : NULL;
		i->dirty = false;
		if (r)
			atomic_fetch_add_explicit(&r->users, 1, memory_order_relaxed);
	}
	gt_lz_unlock(&queue->lock);
}

static void reset_own_events(const struct gt_lz_list *list)
{
	for (const struct gt_lz_entry *e = list->first; e; e = e->next)
		if (e->own)
			GT_LZ(list->table, zeEventHostReset)(e->own->event);
}

/* End the last run. Return a gputap list that must run on the same queue before the next run, with
 * the times for the last run's pending activities; or NULL. @queue: queue of the next run. NULL if
 * the list is not run again, because its commands are removed. */
static struct gt_lz_readback *end_last_run(struct gt_lz_list *list, struct gt_lz_queue *queue)
{
	struct gt_lz_readback *r = NULL;
	uint32_t left;

	list->fresh = false;
	if (!list->ran)
		return NULL;
	gt_lz_harvest(list->ran, 0);
	gt_lz_lock(&list->ran->lock);
	left = count_items(list->ran, list);
	gt_lz_unlock(&list->ran->lock);
	if (left) {
		if (queue == list->ran)
			r = take_readback(list);
		if (!r)
			name_list(list, list->ran,
				  queue ? "a list was run again before its previous run was known "
					  "to have completed"
					: "a list was reset or destroyed before its last run was "
					  "known to have completed");
		give_readback(list->ran, list, NULL, r);
	} else if (!list->unseen) {
		list->ran = NULL; /* the whole run is done */
		reset_own_events(list);
	}
	return r;
}

/* End all runs, with times. The runs are done, because the program may change the list only
 * then. */
static void end_all_runs(struct gt_lz_list *list)
{
	struct gt_lz_queue *queue = list->ran;

	if (!queue)
		return;
	gt_lz_harvest(queue, 0);
	gt_lz_lock(&queue->lock);
	for (struct gt_lz_activity *i = queue->first; i; i = i->next)
		if (i->list == list->object.handle)
			i->dirty = false;
	gt_lz_unlock(&queue->lock);
	gt_lz_harvest(queue, 0);
	end_last_run(list, NULL);
}

static void end_readbacks(struct gt_lz_list *list)
{
	for (struct gt_lz_readback *r = list->readbacks, *next; r; r = next) {
		next = r->next;
		if (!atomic_load_explicit(&r->users, memory_order_acquire))
			destroy_readback(list, r); /* a readback in use is not destroyed */
	}
	list->readbacks = NULL;
	list->readback_count = 0;
}

/* Forget an entry's program event. Meanwhile, another event may have reused the event's node. */
static void forget_program_event(struct gt_lz_entry *e)
{
	if (e->program && e->program->object.handle == e->event)
		atomic_fetch_sub_explicit(&e->program->entries, 1, memory_order_relaxed);
	e->program = NULL;
}

void gt_lz_list_empty(struct gt_lz_list *list)
{
	end_all_runs(list);
	for (struct gt_lz_entry *e = list->first, *next; e; e = next) {
		next = e->next;
		forget_program_event(e);
		if (e->own)
			gt_lz_own_give(list->table, &list->own, e->own);
		gt_lz_give(&list->entries, e);
	}
	end_readbacks(list);
	list->first = list->last = NULL;
	list->ran = NULL;
}

void gt_lz_entry_set_event(struct gt_lz_list *list, struct gt_lz_entry *e,
			   struct gt_lz_event *program, void *event)
{
	end_all_runs(list);
	end_readbacks(list);
	forget_program_event(e);
	if (e->own)
		gt_lz_own_give(list->table, &list->own, e->own);
	e->own = NULL;
	e->times = NULL;
	e->program = program;
	e->event = program ? event : NULL; /* an event without times is not used */
	if (program)
		atomic_fetch_add_explicit(&program->entries, 1, memory_order_relaxed);
}

/* Append commands to the list that copy the entry's times. Return false if the times will be
 * unknown. */
static bool keep_entry_times(struct gt_lz_list *list, struct gt_lz_entry *e)
{
	struct gt_lz_own *own = gt_lz_own_take(list->table, list->context, &list->own);
	struct lz_kernel_times *times =
		own ? gt_lz_own_times(list->table, list->context, own) : NULL;
	void *handle = (void *)list->object.handle;

	/* the entry's event may have been signalled in the last run */
	if (!times || GT_LZ(list->table, zeCommandListAppendBarrier)(handle, NULL, 0, NULL) ||
	    GT_LZ(list->table, zeCommandListAppendQueryKernelTimestamps)(handle, 1, &e->event,
									 times, NULL, own->event, 0,
									 NULL)) {
		if (own)
			gt_lz_own_give(list->table, &list->own, own);
		return false;
	}
	e->times = times;
	e->own = own;
	e->event = own->event;
	return true;
}

void gt_lz_list_keep_times(struct gt_lz_list *list, struct gt_lz_event *event)
{
	if (list->queue || !atomic_load_explicit(&event->entries, memory_order_relaxed))
		return;
	for (struct gt_lz_entry *e = list->first; e; e = e->next) {
		if (e->program != event)
			continue;
		atomic_fetch_sub_explicit(&e->program->entries, 1, memory_order_relaxed);
		atomic_store_explicit(&event->shared, list, memory_order_relaxed);
		e->program = NULL;
		e->dirty = false;
		if (!can_read_back(list->table) || !keep_entry_times(list, e))
			e->event = NULL;
	}
}

/* After a run ---------------------------------------------------------------------------- */

/* Commands that were appended while gputap was not attached are one activity in each run, which
 * ends, without times, when the program has waited for the queue. */
static void push_earlier(const struct gt_call *call, struct gt_lz_queue *queue,
			 const struct gt_lz_list *list)
{
	const struct gt_activity_info what = {.domain = GT_DOMAIN_LEVEL_ZERO,
					      .op = GT_DEVICE_COMMAND_BUFFER,
					      .device = queue->device->number,
					      .device_handle =
						      (uintptr_t)queue->device->object.handle,
					      .queue = queue->number,
					      .queue_handle = (uintptr_t)queue->object.handle};
	struct gt_activity *activity;

	if (!gt_lz_name_earlier(list))
		return;
	activity = gt_activity_begin(call, &what);
	gt_lz_push(queue, &(struct gt_lz_activity){.activity = activity});
	gt_activity_submitted(activity);
}

static void push_entries(const struct gt_call *call, struct gt_lz_queue *queue,
			 struct gt_lz_list *list)
{
	bool dirty;
	uint32_t ordinal = 0;

	if (list->fresh) {
		name_list(list, queue, "a list was run twice in one call");
		give_readback(queue, list, NULL, NULL);
	}
	dirty = list->ran != NULL;
	list->unseen = false;
	push_earlier(call, queue, list);
	for (const struct gt_lz_entry *e = list->first; e; e = e->next, ordinal++) {
		struct gt_activity_info what = e->what;
		struct gt_activity *activity;

		what.queue = queue->number;
		what.queue_handle = (uintptr_t)queue->object.handle;
		if (e->program) /* another list of the same call uses the event */
			gt_lz_event_detach(e->program, NULL, false);
		activity = gt_activity_begin(call, &what);
		list->unseen |= !activity;
		gt_lz_push(queue, &(struct gt_lz_activity){
					  .activity = activity,
					  .event = e->event,
					  .program = e->program,
					  .times = e->times,
					  .list = list->object.handle,
					  .ordinal = ordinal,
					  .dirty = dirty || e->dirty ||
						   (e->program &&
						    atomic_load_explicit(&e->program->used,
									 memory_order_relaxed)),
				  });
		gt_activity_submitted(activity);
	}
	list->ran = queue;
	list->fresh = true;
}

static void push_lists(const struct gt_call *call, struct gt_lz_queue *queue, uint32_t count,
		       void **lists, const void *fence)
{
	struct gt_lz_fence *f;

	gt_lz_clock_read(queue->device, call->thread);
	for (uint32_t i = 0; i < count; i++) {
		struct gt_lz_list *list = gt_lz_find(GT_LZ_LIST, lists[i]);

		if (list && !list->queue)
			push_entries(call, queue, list);
	}
	f = fence ? gt_lz_add(GT_LZ_FENCE, fence) : NULL;
	if (f) {
		f->queue = queue;
		f->until = gt_lz_submitted_to(queue);
	}
	if (queue->synchronous)
		gt_lz_harvest(queue, gt_lz_submitted_to(queue));
}

/* The wraps ------------------------------------------------------------------------------ */

/* Detach this list's events from activities of other lists. */
static void detach_events(const struct gt_lz_list *list)
{
	for (const struct gt_lz_entry *e = list->first; e; e = e->next)
		if (e->program)
			gt_lz_event_detach(e->program, NULL, true);
}

static int run_on_queue(const struct gt_call *call, void *queue, void *list)
{
	return REAL(zeCommandQueueExecuteCommandLists)(queue, 1, &list, NULL);
}

/* Prepare lists for a run. Return the queue, or NULL if runs on the queue are not followed. */
static struct gt_lz_queue *begin_run(const struct gt_call *call, const void *handle, uint32_t count,
				     void **lists,
				     int (*run)(const struct gt_call *, void *, void *))
{
	struct gt_lz_queue *queue =
		lists ? gt_lz_meet_queue(call, handle, count, lists, run == run_on_queue) : NULL;

	if (!queue)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		struct gt_lz_list *list = gt_lz_meet_list(call, lists[i], GT_LZ_EARLIER_CERTAIN);
		struct gt_lz_readback *r = list && !list->queue ? end_last_run(list, queue) : NULL;

		if (list && !list->queue)
			detach_events(list);
		if (r && run(call, (void *)handle, r->list)) {
			name_list(list, queue, "the driver refused gputap's own list");
			give_readback(queue, list, r, NULL);
		}
	}
	return queue;
}

static int end_run(const struct gt_call *call, int status, struct gt_lz_queue *queue,
		   uint32_t count, void **lists, const void *fence)
{
	if (!status && queue)
		push_lists(call, queue, count, lists, fence);
	return status;
}

int gt_level_zero_wrap_zeCommandQueueExecuteCommandLists(const struct gt_call *call, void *handle,
							 uint32_t count, void **lists, void *fence)
{
	struct gt_lz_queue *queue = begin_run(call, handle, count, lists, run_on_queue);

	return end_run(call, REAL(zeCommandQueueExecuteCommandLists)(handle, count, lists, fence),
		       queue, count, lists, fence);
}

static int run_on_list(const struct gt_call *call, void *immediate, void *list)
{
	return REAL(zeCommandListImmediateAppendCommandListsExp)(immediate, 1, &list, NULL, 0,
								 NULL);
}

int gt_level_zero_wrap_zeCommandListImmediateAppendCommandListsExp(const struct gt_call *call,
								   void *handle, uint32_t count,
								   void **lists, void *signal,
								   uint32_t waits, void **wait)
{
	struct gt_lz_queue *queue = begin_run(call, handle, count, lists, run_on_list);

	return end_run(call,
		       REAL(zeCommandListImmediateAppendCommandListsExp)(handle, count, lists,
									 signal, waits, wait),
		       queue, count, lists, NULL);
}

static int run_on_list_with(const struct gt_call *call, void *immediate, void *list)
{
	return REAL(zeCommandListImmediateAppendCommandListsWithParameters)(immediate, 1, &list,
									    NULL, NULL, 0, NULL);
}

int gt_level_zero_wrap_zeCommandListImmediateAppendCommandListsWithParameters(
	const struct gt_call *call, void *handle, uint32_t count, void **lists, const void *next,
	void *signal, uint32_t waits, void **wait)
{
	struct gt_lz_queue *queue = begin_run(call, handle, count, lists, run_on_list_with);

	return end_run(call,
		       REAL(zeCommandListImmediateAppendCommandListsWithParameters)(
			       handle, count, lists, next, signal, waits, wait),
		       queue, count, lists, NULL);
}
