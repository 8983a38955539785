/* SPDX-License-Identifier: MIT */
/* Records GPU activities: commands on immediate lists, and the commands of regular lists in each
 * run.
 *
 *   immediate   wrap of the append: the command gets an event of the program or of gputap
 *                 └─ real ─► a pending activity of the list's queue    (level_zero_harvest.c)
 *   regular     wrap of the append: the command gets an event and becomes an entry of the list
 *   a run       each entry adds a pending activity to the queue        (level_zero_runs.c)
 *
 * Events of the program have times because gputap creates the program's pools with times
 * (level_zero_events.c). gputap cannot read times from other events: events for other processes,
 * and events created before gputap was loaded. If the list is in order, the command gets a gputap
 * event instead, and an added command signals the program's event. In other lists, the added
 * command would change which commands overlap.
 *
 * Commands that go into a graph are left unchanged (level_zero_graphs.c); a launch of a graph is
 * one activity. */
#include <string.h>

#include "core/context.h"
#include "runtime/level_zero/level_zero_late.h"
#include "runtime/level_zero/level_zero_objects.h"
#include "tool/tool_activity.h"

#define REAL(name) ((gt_level_zero_##name##_fn *)call->tap->real)

struct submission {
	const struct gt_call *call;
	struct gt_lz_list *list; /* NULL if the command is not followed */
	struct gt_lz_own *own;
	struct gt_lz_event *program; /* program event behind `event`, or NULL */
	void *event;
	void *behind; /* program event to be signalled after the command */
	bool dirty, untimed;
	struct gt_activity *activity; /* activity of a command on an immediate list */
	struct gt_activity_info what;
};

/* Return true if the command's activity is wanted after the pause. A regular list may be run only
 * then. */
static bool is_asked_after_pause(const struct gt_call *call, const void *handle)
{
	const struct gt_lz_list *list;

	if (!(atomic_load_explicit(&gt_pauses, memory_order_relaxed) & 1) ||
	    !gt_session_asks_activity(call->table->operations[call->tap - call->table->taps].op))
		return false;
	list = gt_lz_find(GT_LZ_LIST, handle);
	return list && !list->queue;
}

static bool is_asked(const struct gt_call *call, const void *list)
{
	if (call->thread || gt_tool_activity_asked(GT_DOMAIN_LEVEL_ZERO) ||
	    is_asked_after_pause(call, list))
		return true;
	gt_lz_note_skipped(list);
	return false;
}

/* Submissions ---------------------------------------------------------------------- */

static void take_own(struct submission *s, void **signal)
{
	struct gt_lz_queue *queue = s->list->queue;

	if (queue)
		gt_lz_lock(&queue->lock);
	s->own = gt_lz_own_take(s->list->table, s->list->context,
				queue ? &queue->own : &s->list->own);
	if (queue)
		gt_lz_unlock(&queue->lock);
	if (s->own)
		s->event = *signal = s->own->event;
}

/* Use a gputap event, and signal the program's event after the command. */
static bool take_own_before(struct submission *s, void **signal)
{
	void *behind = *signal;

	if (!s->list->in_order || !GT_LZ(s->list->table, zeCommandListAppendSignalEvent))
		return false;
	take_own(s, signal);
	if (s->own)
		s->behind = behind;
	return s->own != NULL;
}

/* Return true if the program may signal its event again, in any list, before gputap reads the event
 * for this command. If the program has requested times for its events, it may read them, so the
 * event must keep the command's times. */
static bool may_be_reused(const struct submission *s)
{
	return s->program && s->program->counter_based && !s->program->wants_times &&
	       s->list->queue;
}

/* Choose an event for a command whose program event has no times. */
static void choose_other(struct submission *s, void **signal)
{
	struct gt_lz_event *event;

	if (take_own_before(s, signal))
		return;
	event = s->list->queue ? gt_lz_find(GT_LZ_EVENT, *signal) : NULL;
	if (event &&
	    !event->hidden) { /* an earlier event: it shows only that the command is done */
		gt_lz_event_detach(event, s->list, true);
		s->program = event;
		s->event = *signal;
		s->untimed = true;
		s->dirty = !event->counter_based &&
			   atomic_load_explicit(&event->used, memory_order_relaxed);
	}
	if (!gt_lz_name_untimed(s->list))
		gt_lz_list_name(
			s->list, s->what.queue,
			"a command's event has no times: the event is for other processes, was "
			"created before gputap was loaded, or could not be created with times");
}

/* Choose the command's event: the program's event if it has times, otherwise a gputap event. */
static void choose_event(struct submission *s, void **signal)
{
	const struct gt_lz_queue *queue = s->list->queue;

	if (may_be_reused(s) && take_own_before(s, signal)) {
		s->program = NULL;
	} else if (s->program) {
		s->event = *signal;
		s->dirty = queue ? !s->program->counter_based &&
					   atomic_load_explicit(&s->program->used,
								memory_order_relaxed)
				 : atomic_load_explicit(&s->program->shared,
							memory_order_relaxed) == s->list;
	} else if (*signal) {
		choose_other(s, signal);
	} else {
		take_own(s, signal);
	}
}

static void begin_command(struct submission *s, const struct gt_call *call, void *list_handle,
			  void **signal, const struct gt_activity_info *what)
{
	struct gt_lz_queue *queue;

	*s = (struct submission){.call = call, .what = *what};
	s->list = what->op ? gt_lz_meet_list(call, list_handle, GT_LZ_EARLIER_PERHAPS) : NULL;
	if (!s->list)
		return;
	queue = s->list->queue;
	if (queue && gt_lz_is_captured(s->list)) {
		s->list = NULL;
		return;
	}
	s->program = *signal ? gt_lz_meet_event(call, *signal) : NULL;
	s->what.domain = GT_DOMAIN_LEVEL_ZERO;
	s->what.device = s->list->device->number;
	s->what.device_handle = (uintptr_t)s->list->device->object.handle;
	if (s->program && queue)
		gt_lz_event_detach(s->program, s->list, true);
	else if (s->program)
		gt_lz_list_keep_times(s->list, s->program);
	if (queue) {
		s->what.queue = queue->number;
		s->what.queue_handle = (uintptr_t)list_handle;
		gt_lz_clock_read(queue->device, call->thread);
		s->activity = gt_activity_begin(call, &s->what);
	}
	if (queue && !s->activity)
		s->list = NULL;
	else
		choose_event(s, signal);
}

static void add_entry(struct submission *s)
{
	struct gt_lz_list *list = s->list;
	struct gt_lz_entry *e = gt_lz_take(&list->entries);

	if (!e)
		return;
	e->what = s->what;
	e->event = s->event;
	e->program = s->program;
	e->own = s->own;
	e->dirty = s->dirty;
	e->id = list->next_id;
	list->next_id = 0;
	if (e->program)
		atomic_fetch_add_explicit(&e->program->entries, 1, memory_order_relaxed);
	*(list->last ? &list->last->next : &list->first) = e;
	list->last = e;
}

static void refuse_command(const struct submission *s)
{
	struct gt_lz_queue *queue = s->list->queue;

	gt_activity_refused(s->activity);
	if (!s->own)
		return;
	if (queue)
		gt_lz_lock(&queue->lock);
	gt_lz_own_give(s->list->table, queue ? &queue->own : &s->list->own, s->own);
	if (queue)
		gt_lz_unlock(&queue->lock);
}

/* Signal the program's event after the command. Queries of that event then refer to this queue. */
static int signal_behind(const struct submission *s)
{
	struct gt_lz_event *event = gt_lz_find(GT_LZ_EVENT, s->behind);

	if (event)
		atomic_store_explicit(&event->queue, s->list->queue, memory_order_relaxed);
	return GT_LZ(s->list->table, zeCommandListAppendSignalEvent)((void *)s->list->object.handle,
								     s->behind);
}

static int end_command(struct submission *s, int status)
{
	struct gt_lz_queue *queue;

	if (!s->list)
		return status;
	queue = s->list->queue;
	if (status) {
		refuse_command(s);
	} else if (queue && gt_lz_is_captured(s->list)) {
		gt_activity_refused(s->activity); /* from now on, our event belongs to the graph */
	} else if (queue) {
		gt_lz_push(queue, &(struct gt_lz_activity){.activity = s->activity,
							   .event = s->event,
							   .program = s->program,
							   .own = s->own,
							   .dirty = s->dirty,
							   .untimed = s->untimed});
		gt_activity_submitted(s->activity);
		if (queue->synchronous) /* the command is already done */
			gt_lz_harvest(queue, gt_lz_submitted_to(queue));
	} else {
		add_entry(s);
	}
	return !status && s->behind ? signal_behind(s) : status;
}

/* Commands ----------------------------------------------------------------------- */

/* Describe a kernel launch. Operation 0 marks a kernel that must not be recorded. */
static struct gt_activity_info kernel_what(const struct gt_call *call, void *kernel,
					   const struct gt_ze_group_count *groups,
					   const struct gt_ze_group_size *size)
{
	struct gt_activity_info what = {.op = GT_DEVICE_KERNEL};
	const struct gt_lz_kernel *k = gt_lz_meet_kernel(call, kernel);

	if (k) {
		what.op = k->unwanted ? 0 : GT_DEVICE_KERNEL;
		what.name = k->name;
		what.symbol = k->symbol;
		what.group_bytes = k->group_bytes;
		what.private_bytes = k->private_bytes;
		memcpy(what.block, k->group, sizeof what.block);
	}
	if (size) {
		what.block[0] = size->groupSizeX;
		what.block[1] = size->groupSizeY;
		what.block[2] = size->groupSizeZ;
	}
	if (groups) {
		what.grid[0] = gt_saturate_u32((uint64_t)groups->groupCountX * what.block[0]);
		what.grid[1] = gt_saturate_u32((uint64_t)groups->groupCountY * what.block[1]);
		what.grid[2] = gt_saturate_u32((uint64_t)groups->groupCountZ * what.block[2]);
	}
	return what;
}

/* Describe a command that launches several kernels with group counts in device memory. The command
 * is one activity with the names of all kernels. */
static struct gt_activity_info kernels_what(const struct gt_call *call, uint32_t count,
					    void **kernels)
{
	struct gt_activity_info what = {.op = GT_DEVICE_KERNEL};
	char text[512];
	size_t bytes = 0;

	for (uint32_t i = 0; kernels && i < count; i++) {
		const struct gt_lz_kernel *k = gt_lz_meet_kernel(call, kernels[i]);
		const char *name = k && k->name ? gt_string_text(k->name) : NULL;
		size_t length = name ? strlen(name) : 0;

		if (!length || bytes + length + 3 > sizeof text)
			continue;
		if (bytes) {
			memcpy(text + bytes, ", ", 2);
			bytes += 2;
		}
		memcpy(text + bytes, name, length);
		bytes += length;
	}
	what.name = bytes ? gt_string_id(gt_thread_own(), text, bytes) : 0;
	return what;
}

static struct gt_activity_info transfer_what(enum gt_device_op op, const void *to, const void *from,
					     uint64_t bytes)
{
	return (struct gt_activity_info){.op = op,
					 .bytes = bytes,
					 .source = (uintptr_t)from,
					 .destination = (uintptr_t)to};
}

static struct gt_activity_info copy_what(const struct gt_call *call, void *list, const void *to,
					 const void *from, uint64_t bytes)
{
	return transfer_what(gt_lz_copy_op(call, list, to, from), to, from, bytes);
}

static uint64_t region_bytes(const void *region)
{
	const struct lz_copy_region *r = region;

	return r ? (uint64_t)r->width * (r->height ? r->height : 1) * (r->depth ? r->depth : 1) : 0;
}

#define COMMAND(name, parameters, arguments, command)          \
	int gt_level_zero_wrap_##name parameters               \
	{                                                      \
		struct gt_activity_info what = {0};            \
		struct submission s;                           \
                                                               \
		if (is_asked(call, list))                      \
			what = command;                        \
		begin_command(&s, call, list, &signal, &what); \
		return end_command(&s, REAL(name) arguments);  \
	}
#define SIGNALS void *signal, uint32_t waits, void **wait

COMMAND(zeCommandListAppendLaunchKernel,
	(const struct gt_call *call, void *list, void *kernel,
	 const struct gt_ze_group_count *groups, SIGNALS),
	(list, kernel, groups, signal, waits, wait), kernel_what(call, kernel, groups, NULL))
COMMAND(zeCommandListAppendLaunchCooperativeKernel,
	(const struct gt_call *call, void *list, void *kernel,
	 const struct gt_ze_group_count *groups, SIGNALS),
	(list, kernel, groups, signal, waits, wait), kernel_what(call, kernel, groups, NULL))
/* the group counts are in device memory */
COMMAND(zeCommandListAppendLaunchKernelIndirect,
	(const struct gt_call *call, void *list, void *kernel,
	 const struct gt_ze_group_count *groups, SIGNALS),
	(list, kernel, groups, signal, waits, wait), kernel_what(call, kernel, NULL, NULL))
COMMAND(zeCommandListAppendLaunchMultipleKernelsIndirect,
	(const struct gt_call *call, void *list, uint32_t count, void **kernels,
	 const uint32_t *counts, const void *groups, SIGNALS),
	(list, count, kernels, counts, groups, signal, waits, wait),
	kernels_what(call, count, kernels))
COMMAND(zeCommandListAppendLaunchKernelWithParameters,
	(const struct gt_call *call, void *list, void *kernel,
	 const struct gt_ze_group_count *groups, const void *next, SIGNALS),
	(list, kernel, groups, next, signal, waits, wait), kernel_what(call, kernel, groups, NULL))
COMMAND(zeCommandListAppendLaunchKernelWithArguments,
	(const struct gt_call *call, void *list, void *kernel, struct gt_ze_group_count groups,
	 struct gt_ze_group_size size, void **values, const void *next, SIGNALS),
	(list, kernel, groups, size, values, next, signal, waits, wait),
	kernel_what(call, kernel, &groups, &size))
COMMAND(zeCommandListAppendMemoryCopy,
	(const struct gt_call *call, void *list, void *to, const void *from, size_t bytes, SIGNALS),
	(list, to, from, bytes, signal, waits, wait), copy_what(call, list, to, from, bytes))
COMMAND(zeCommandListAppendMemoryCopyWithParameters,
	(const struct gt_call *call, void *list, void *to, const void *from, size_t bytes,
	 const void *next, SIGNALS),
	(list, to, from, bytes, next, signal, waits, wait), copy_what(call, list, to, from, bytes))
COMMAND(zeCommandListAppendMemoryCopyFromContext,
	(const struct gt_call *call, void *list, void *to, void *context, const void *from,
	 size_t bytes, SIGNALS),
	(list, to, context, from, bytes, signal, waits, wait),
	copy_what(call, list, to, from, bytes))
COMMAND(zeCommandListAppendMemoryCopyRegion,
	(const struct gt_call *call, void *list, void *to, const void *to_region, uint32_t to_pitch,
	 uint32_t to_slice, const void *from, const void *from_region, uint32_t from_pitch,
	 uint32_t from_slice, SIGNALS),
	(list, to, to_region, to_pitch, to_slice, from, from_region, from_pitch, from_slice, signal,
	 waits, wait),
	copy_what(call, list, to, from, region_bytes(to_region)))
COMMAND(zeCommandListAppendMemoryFill,
	(const struct gt_call *call, void *list, void *to, const void *pattern,
	 size_t pattern_bytes, size_t bytes, SIGNALS),
	(list, to, pattern, pattern_bytes, bytes, signal, waits, wait),
	transfer_what(GT_DEVICE_FILL, to, NULL, bytes))
COMMAND(zeCommandListAppendMemoryFillWithParameters,
	(const struct gt_call *call, void *list, void *to, const void *pattern,
	 size_t pattern_bytes, size_t bytes, const void *next, SIGNALS),
	(list, to, pattern, pattern_bytes, bytes, next, signal, waits, wait),
	transfer_what(GT_DEVICE_FILL, to, NULL, bytes))
COMMAND(zeCommandListAppendImageCopy,
	(const struct gt_call *call, void *list, void *to, void *from, SIGNALS),
	(list, to, from, signal, waits, wait),
	transfer_what(GT_DEVICE_COPY, to, from, gt_lz_image_bytes(to, NULL)))
COMMAND(zeCommandListAppendImageCopyRegion,
	(const struct gt_call *call, void *list, void *to, void *from, const void *to_region,
	 const void *from_region, SIGNALS),
	(list, to, from, to_region, from_region, signal, waits, wait),
	transfer_what(GT_DEVICE_COPY, to, from, gt_lz_image_bytes(to, to_region)))
COMMAND(zeCommandListAppendImageCopyToMemory,
	(const struct gt_call *call, void *list, void *to, void *from, const void *region, SIGNALS),
	(list, to, from, region, signal, waits, wait),
	transfer_what(gt_lz_image_op(call, list, to, false), to, from,
		      gt_lz_image_bytes(from, region)))
COMMAND(zeCommandListAppendImageCopyFromMemory,
	(const struct gt_call *call, void *list, void *to, const void *from, const void *region,
	 SIGNALS),
	(list, to, from, region, signal, waits, wait),
	transfer_what(gt_lz_image_op(call, list, from, true), to, from,
		      gt_lz_image_bytes(to, region)))
COMMAND(zeCommandListAppendImageCopyToMemoryExt,
	(const struct gt_call *call, void *list, void *to, void *from, const void *region,
	 uint32_t row, uint32_t slice, SIGNALS),
	(list, to, from, region, row, slice, signal, waits, wait),
	transfer_what(gt_lz_image_op(call, list, to, false), to, from,
		      gt_lz_image_bytes(from, region)))
COMMAND(zeCommandListAppendImageCopyFromMemoryExt,
	(const struct gt_call *call, void *list, void *to, const void *from, const void *region,
	 uint32_t row, uint32_t slice, SIGNALS),
	(list, to, from, region, row, slice, signal, waits, wait),
	transfer_what(gt_lz_image_op(call, list, from, true), to, from,
		      gt_lz_image_bytes(to, region)))
COMMAND(zeCommandListAppendBarrier, (const struct gt_call *call, void *list, SIGNALS),
	(list, signal, waits, wait), transfer_what(GT_DEVICE_BARRIER, NULL, NULL, 0))
COMMAND(zeCommandListAppendMemoryRangesBarrier,
	(const struct gt_call *call, void *list, uint32_t count, const size_t *bytes,
	 const void **ranges, SIGNALS),
	(list, count, bytes, ranges, signal, waits, wait),
	transfer_what(GT_DEVICE_BARRIER, NULL, NULL, 0))

/* Record a graph launch as one activity, whose times are those of the event that the graph signals
 * at its end. */
COMMAND(zeCommandListAppendGraphExt,
	(const struct gt_call *call, void *list, void *graph, const void *next, SIGNALS),
	(list, graph, next, signal, waits, wait),
	transfer_what(GT_DEVICE_COMMAND_BUFFER, NULL, NULL, 0))

int gt_level_zero_wrap_zeCommandListAppendEventReset(const struct gt_call *call, void *list_handle,
						     void *handle)
{
	struct gt_lz_list *list = gt_lz_find(GT_LZ_LIST, list_handle);
	struct gt_lz_event *event = gt_lz_find(GT_LZ_EVENT, handle);

	if (list && event && list->queue && !gt_lz_is_captured(list))
		gt_lz_event_detach(event, list, true);
	else if (list && event && !list->queue)
		gt_lz_list_keep_times(list, event);
	return REAL(zeCommandListAppendEventReset)(list_handle, handle);
}

/* Mark the event as signalled by the list's queue: a wait for the event also waits for earlier
 * commands of the list. */
int gt_level_zero_wrap_zeCommandListAppendSignalEvent(const struct gt_call *call, void *list_handle,
						      void *handle)
{
	const struct gt_lz_list *list = gt_lz_find(GT_LZ_LIST, list_handle);
	struct gt_lz_event *event = list && list->queue && !gt_lz_is_captured(list)
					    ? gt_lz_find(GT_LZ_EVENT, handle)
					    : NULL;

	if (event) {
		gt_lz_event_detach(event, list, true);
		atomic_store_explicit(&event->queue, list->queue, memory_order_relaxed);
		atomic_store_explicit(&event->used, true, memory_order_relaxed);
	} else if (list && !list->queue && (event = gt_lz_find(GT_LZ_EVENT, handle))) {
		gt_lz_list_keep_times(gt_lz_find(GT_LZ_LIST, list_handle), event);
	}
	return REAL(zeCommandListAppendSignalEvent)(list_handle, handle);
}
