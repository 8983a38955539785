/* SPDX-License-Identifier: MIT */
/* Device work: commands on immediate lists, and those of regular lists whenever they are run.
 *
 *   immediate   wrap of the append: the command gets an event, of the program's or of ours
 *                 └─ real ─► an item in the list's queue                (level_zero_harvest.c)
 *   regular     wrap of the append: the same, kept as an entry of the list
 *   a run       wrap of zeCommandQueueExecuteCommandLists: an item in the queue's queue for each
 *               entry; events of ours are reset before, if the last run is known to be done
 *
 * Events of the program have times because its pools are made with them (level_zero_events.c); that
 * is all that it could notice. NEEDSWORK: a list that is run again before its last run is known to
 * be done has times for the last of these runs only; events for other processes, counter-based
 * events that are of no pool, events that the device itself resets, LaunchMultipleKernelsIndirect
 * and graphs: no times; copies have no direction. */
#include <string.h>

#include "runtime/level_zero/level_zero_objects.h"
#include "tool/tool_work.h"

#define REAL(name) ((gt_level_zero_##name##_fn *)call->tap->real)

struct submission {
	const struct gt_call *call;
	struct gt_lz_list *list; /* NULL: the command is not followed */
	struct gt_lz_own *own;
	void *event;
	struct gt_work *work; /* of an immediate list */
	struct gt_work_what what;
};

static uint32_t saturate(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* NEEDSWORK: of a list that is built while the program pauses its recording, later runs have no
 * device work. */
static bool is_asked(const struct gt_call *call)
{
	return call->thread || gt_tool_work_asked(GT_DOMAIN_LEVEL_ZERO);
}

/* Items -------------------------------------------------------------------------- */

/* Without memory the item ends here, without times. */
static void push_item(const void *queue_handle, const struct gt_lz_item *item)
{
	struct gt_lz_queue *queue;
	struct gt_lz_item *i = NULL;
	bool look = false;

	if (!item->work)
		return;
	gt_lz_lock();
	queue = gt_lz_find(GT_LZ_QUEUE, queue_handle);
	if (queue)
		i = gt_lz_take();
	if (i) {
		*i = *item;
		gt_lz_use_event(i->event, 1);
		i->sequence = ++queue->submitted;
		*(queue->last ? &queue->last->next : &queue->first) = i;
		queue->last = i;
		look = ++queue->count > queue->look;
	}
	gt_lz_unlock();
	if (!i)
		gt_work_completed(item->work, 0, &(struct gt_work_times){0}, 0, 0);
	if (look)
		gt_lz_harvest(queue_handle, 0);
}

static void begin_command(struct submission *s, const struct gt_call *call, void *list_handle,
			  void **signal, const struct gt_work_what *what)
{
	const struct gt_lz_event *event;
	struct gt_lz_queue *queue;
	bool counter_based;

	*s = (struct submission){.call = call, .what = *what};
	if (!what->op)
		return;
	gt_lz_lock();
	s->list = gt_lz_find(GT_LZ_LIST, list_handle);
	queue = s->list && s->list->immediate ? gt_lz_find(GT_LZ_QUEUE, list_handle) : NULL;
	event = *signal ? gt_lz_find(GT_LZ_EVENT, *signal) : NULL;
	counter_based = event && event->counter_based;
	if (s->list) {
		s->what.domain = GT_DOMAIN_LEVEL_ZERO;
		s->what.device = s->list->device->number;
		s->what.device_handle = (uintptr_t)s->list->device->object.handle;
	}
	if (queue) {
		s->what.queue = queue->number;
		s->what.queue_handle = (uintptr_t)list_handle;
		gt_lz_clock_read(queue->device, call->thread);
	}
	gt_lz_unlock();
	if (event && (queue || counter_based))
		gt_lz_event_detach(*signal);
	if (queue)
		s->work = gt_work_begin(call, &s->what);
	if (!s->list || (queue && !s->work)) {
		s->list = NULL;
		return;
	}
	if (event)
		s->event = *signal;
	if (*signal)
		return;
	gt_lz_lock();
	s->own = gt_lz_own_take(s->list->table, s->list->context);
	gt_lz_unlock();
	if (s->own)
		s->event = *signal = s->own->event;
}

static void add_entry(struct submission *s)
{
	struct gt_lz_entry *e;

	gt_lz_lock();
	e = gt_lz_take();
	if (e) {
		*e = (struct gt_lz_entry){NULL, s->what, s->event, s->own};
		*(s->list->last ? &s->list->last->next : &s->list->first) = e;
		s->list->last = e;
	}
	gt_lz_unlock();
}

static int end_command(struct submission *s, int status)
{
	if (!s->list)
		return status;
	if (status) {
		gt_work_refused(s->work);
		gt_lz_lock();
		if (s->own)
			gt_lz_own_give(s->list->context, s->own);
		gt_lz_unlock();
	} else if (s->list->immediate) {
		push_item(s->list->object.handle,
			  &(struct gt_lz_item){.work = s->work, .event = s->event, .own = s->own});
		gt_work_submitted(s->work);
	} else {
		add_entry(s);
	}
	return status;
}

/* Commands ----------------------------------------------------------------------- */

/* Operation 0: a kernel that is not to be recorded. */
static struct gt_work_what kernel_what(const void *kernel, const struct gt_ze_group_count *groups,
				       const struct gt_ze_group_size *size)
{
	struct gt_work_what what = {.op = GT_DEVICE_KERNEL};
	const struct gt_lz_kernel *k;

	gt_lz_lock();
	k = gt_lz_find(GT_LZ_KERNEL, kernel);
	if (k) {
		what.op = k->unwanted ? 0 : GT_DEVICE_KERNEL;
		what.name = k->name;
		memcpy(what.block, k->group, sizeof what.block);
	}
	gt_lz_unlock();
	if (size) {
		what.block[0] = size->groupSizeX;
		what.block[1] = size->groupSizeY;
		what.block[2] = size->groupSizeZ;
	}
	if (groups) {
		what.grid[0] = saturate((uint64_t)groups->groupCountX * what.block[0]);
		what.grid[1] = saturate((uint64_t)groups->groupCountY * what.block[1]);
		what.grid[2] = saturate((uint64_t)groups->groupCountZ * what.block[2]);
	}
	return what;
}

static struct gt_work_what transfer_what(enum gt_device_op op, const void *to, const void *from,
					 uint64_t bytes)
{
	return (struct gt_work_what){.op = op,
				     .bytes = bytes,
				     .source = (uintptr_t)from,
				     .destination = (uintptr_t)to};
}

static uint64_t region_bytes(const void *region)
{
	const struct lz_copy_region *r = region;

	return r ? (uint64_t)r->width * (r->height ? r->height : 1) * (r->depth ? r->depth : 1) : 0;
}

#define COMMAND(name, parameters, arguments, command)          \
	int gt_level_zero_wrap_##name parameters               \
	{                                                      \
		struct gt_work_what what = {0};                \
		struct submission s;                           \
                                                               \
		if (is_asked(call))                            \
			what = command;                        \
		begin_command(&s, call, list, &signal, &what); \
		return end_command(&s, REAL(name) arguments);  \
	}
#define SIGNALS void *signal, uint32_t waits, void **wait

COMMAND(zeCommandListAppendLaunchKernel,
	(const struct gt_call *call, void *list, void *kernel,
	 const struct gt_ze_group_count *groups, SIGNALS),
	(list, kernel, groups, signal, waits, wait), kernel_what(kernel, groups, NULL))
COMMAND(zeCommandListAppendLaunchCooperativeKernel,
	(const struct gt_call *call, void *list, void *kernel,
	 const struct gt_ze_group_count *groups, SIGNALS),
	(list, kernel, groups, signal, waits, wait), kernel_what(kernel, groups, NULL))
/* the group counts lie in memory of the device's */
COMMAND(zeCommandListAppendLaunchKernelIndirect,
	(const struct gt_call *call, void *list, void *kernel,
	 const struct gt_ze_group_count *groups, SIGNALS),
	(list, kernel, groups, signal, waits, wait), kernel_what(kernel, NULL, NULL))
COMMAND(zeCommandListAppendLaunchKernelWithParameters,
	(const struct gt_call *call, void *list, void *kernel,
	 const struct gt_ze_group_count *groups, const void *next, SIGNALS),
	(list, kernel, groups, next, signal, waits, wait), kernel_what(kernel, groups, NULL))
COMMAND(zeCommandListAppendLaunchKernelWithArguments,
	(const struct gt_call *call, void *list, void *kernel, struct gt_ze_group_count groups,
	 struct gt_ze_group_size size, void **values, const void *next, SIGNALS),
	(list, kernel, groups, size, values, next, signal, waits, wait),
	kernel_what(kernel, &groups, &size))
COMMAND(zeCommandListAppendMemoryCopy,
	(const struct gt_call *call, void *list, void *to, const void *from, size_t bytes, SIGNALS),
	(list, to, from, bytes, signal, waits, wait),
	transfer_what(GT_DEVICE_COPY, to, from, bytes))
COMMAND(zeCommandListAppendMemoryCopyWithParameters,
	(const struct gt_call *call, void *list, void *to, const void *from, size_t bytes,
	 const void *next, SIGNALS),
	(list, to, from, bytes, next, signal, waits, wait),
	transfer_what(GT_DEVICE_COPY, to, from, bytes))
COMMAND(zeCommandListAppendMemoryCopyFromContext,
	(const struct gt_call *call, void *list, void *to, void *context, const void *from,
	 size_t bytes, SIGNALS),
	(list, to, context, from, bytes, signal, waits, wait),
	transfer_what(GT_DEVICE_COPY, to, from, bytes))
COMMAND(zeCommandListAppendMemoryCopyRegion,
	(const struct gt_call *call, void *list, void *to, const void *to_region, uint32_t to_pitch,
	 uint32_t to_slice, const void *from, const void *from_region, uint32_t from_pitch,
	 uint32_t from_slice, SIGNALS),
	(list, to, to_region, to_pitch, to_slice, from, from_region, from_pitch, from_slice, signal,
	 waits, wait),
	transfer_what(GT_DEVICE_COPY, to, from, region_bytes(to_region)))
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
	(list, to, from, signal, waits, wait), transfer_what(GT_DEVICE_COPY, to, from, 0))
COMMAND(zeCommandListAppendImageCopyRegion,
	(const struct gt_call *call, void *list, void *to, void *from, const void *to_region,
	 const void *from_region, SIGNALS),
	(list, to, from, to_region, from_region, signal, waits, wait),
	transfer_what(GT_DEVICE_COPY, to, from, 0))
COMMAND(zeCommandListAppendImageCopyToMemory,
	(const struct gt_call *call, void *list, void *to, void *from, const void *region, SIGNALS),
	(list, to, from, region, signal, waits, wait), transfer_what(GT_DEVICE_COPY, to, from, 0))
COMMAND(zeCommandListAppendImageCopyFromMemory,
	(const struct gt_call *call, void *list, void *to, const void *from, const void *region,
	 SIGNALS),
	(list, to, from, region, signal, waits, wait), transfer_what(GT_DEVICE_COPY, to, from, 0))
COMMAND(zeCommandListAppendImageCopyToMemoryExt,
	(const struct gt_call *call, void *list, void *to, void *from, const void *region,
	 uint32_t row, uint32_t slice, SIGNALS),
	(list, to, from, region, row, slice, signal, waits, wait),
	transfer_what(GT_DEVICE_COPY, to, from, 0))
COMMAND(zeCommandListAppendImageCopyFromMemoryExt,
	(const struct gt_call *call, void *list, void *to, const void *from, const void *region,
	 uint32_t row, uint32_t slice, SIGNALS),
	(list, to, from, region, row, slice, signal, waits, wait),
	transfer_what(GT_DEVICE_COPY, to, from, 0))
COMMAND(zeCommandListAppendBarrier, (const struct gt_call *call, void *list, SIGNALS),
	(list, signal, waits, wait), transfer_what(GT_DEVICE_BARRIER, NULL, NULL, 0))
COMMAND(zeCommandListAppendMemoryRangesBarrier,
	(const struct gt_call *call, void *list, uint32_t count, const size_t *bytes,
	 const void **ranges, SIGNALS),
	(list, count, bytes, ranges, signal, waits, wait),
	transfer_what(GT_DEVICE_BARRIER, NULL, NULL, 0))

int gt_level_zero_wrap_zeCommandListAppendEventReset(const struct gt_call *call, void *list,
						     void *event)
{
	gt_lz_event_detach(event);
	return REAL(zeCommandListAppendEventReset)(list, event);
}

/* Runs of lists ------------------------------------------------------------------- */

static void prepare_lists(uint32_t count, void **lists)
{
	for (uint32_t i = 0; i < count; i++) {
		struct gt_lz_list *list;

		gt_lz_lock();
		list = gt_lz_find(GT_LZ_LIST, lists[i]);
		gt_lz_unlock();
		if (list)
			gt_lz_list_prepare(list);
	}
}

static void push_entries(const struct gt_call *call, void *queue_handle, uint64_t number,
			 struct gt_lz_list *list)
{
	bool dirty = list->ran != NULL;

	for (const struct gt_lz_entry *e = list->first; e; e = e->next) {
		struct gt_work_what what = e->what;
		struct gt_work *work;

		what.queue = number;
		what.queue_handle = (uintptr_t)queue_handle;
		work = gt_work_begin(call, &what);
		push_item(queue_handle, &(struct gt_lz_item){.work = work,
							     .event = e->event,
							     .list = list->object.handle,
							     .dirty = dirty});
		gt_work_submitted(work);
	}
	list->ran = queue_handle;
}

static void push_lists(const struct gt_call *call, void *queue_handle, uint32_t count, void **lists,
		       const void *fence)
{
	struct gt_lz_queue *queue;
	struct gt_lz_fence *f;
	uint64_t number = 0;

	gt_lz_lock();
	queue = gt_lz_find(GT_LZ_QUEUE, queue_handle);
	if (queue) {
		number = queue->number;
		gt_lz_clock_read(queue->device, call->thread);
	}
	gt_lz_unlock();
	if (!queue)
		return;
	for (uint32_t i = 0; i < count; i++) {
		struct gt_lz_list *list;

		gt_lz_lock();
		list = gt_lz_find(GT_LZ_LIST, lists[i]);
		gt_lz_unlock();
		if (list)
			push_entries(call, queue_handle, number, list);
	}
	if (!fence)
		return;
	gt_lz_lock();
	f = gt_lz_add(GT_LZ_FENCE, fence);
	if (f) {
		f->queue = queue_handle;
		f->until = queue->submitted;
	}
	gt_lz_unlock();
}

static int end_run(const struct gt_call *call, int status, void *queue_handle, uint32_t count,
		   void **lists, const void *fence)
{
	if (!status)
		push_lists(call, queue_handle, count, lists, fence);
	return status;
}

int gt_level_zero_wrap_zeCommandQueueExecuteCommandLists(const struct gt_call *call, void *queue,
							 uint32_t count, void **lists, void *fence)
{
	prepare_lists(count, lists);
	return end_run(call, REAL(zeCommandQueueExecuteCommandLists)(queue, count, lists, fence),
		       queue, count, lists, fence);
}

int gt_level_zero_wrap_zeCommandListImmediateAppendCommandListsExp(const struct gt_call *call,
								   void *list, uint32_t count,
								   void **lists, SIGNALS)
{
	prepare_lists(count, lists);
	return end_run(call,
		       REAL(zeCommandListImmediateAppendCommandListsExp)(list, count, lists, signal,
									 waits, wait),
		       list, count, lists, NULL);
}

int gt_level_zero_wrap_zeCommandListImmediateAppendCommandListsWithParameters(
	const struct gt_call *call, void *list, uint32_t count, void **lists, const void *next,
	SIGNALS)
{
	prepare_lists(count, lists);
	return end_run(call,
		       REAL(zeCommandListImmediateAppendCommandListsWithParameters)(
			       list, count, lists, next, signal, waits, wait),
		       list, count, lists, NULL);
}

/* Waits --------------------------------------------------------------------------- */

/* What was submitted to a queue up to now. */
static uint64_t submitted_to(const void *handle)
{
	const struct gt_lz_queue *queue;
	uint64_t n;

	gt_lz_lock();
	queue = gt_lz_find(GT_LZ_QUEUE, handle);
	n = queue ? queue->submitted : 0;
	gt_lz_unlock();
	return n;
}

int gt_level_zero_wrap_zeCommandQueueSynchronize(const struct gt_call *call, void *queue,
						 uint64_t timeout)
{
	uint64_t until = submitted_to(queue);
	int status = REAL(zeCommandQueueSynchronize)(queue, timeout);

	if (!status)
		gt_lz_harvest(queue, until);
	return status;
}

int gt_level_zero_wrap_zeCommandListHostSynchronize(const struct gt_call *call, void *list,
						    uint64_t timeout)
{
	uint64_t until = submitted_to(list);
	int status = REAL(zeCommandListHostSynchronize)(list, timeout);

	if (!status)
		gt_lz_harvest(list, until);
	return status;
}

static int harvest_fence(const void *fence, int status)
{
	const struct gt_lz_fence *f;
	struct gt_lz_fence known = {0};

	if (status)
		return status;
	gt_lz_lock();
	f = gt_lz_find(GT_LZ_FENCE, fence);
	if (f)
		known = *f;
	gt_lz_unlock();
	if (f)
		gt_lz_harvest(known.queue, known.until);
	return status;
}

int gt_level_zero_wrap_zeFenceHostSynchronize(const struct gt_call *call, void *fence,
					      uint64_t timeout)
{
	return harvest_fence(fence, REAL(zeFenceHostSynchronize)(fence, timeout));
}

int gt_level_zero_wrap_zeFenceQueryStatus(const struct gt_call *call, void *fence)
{
	return harvest_fence(fence, REAL(zeFenceQueryStatus)(fence));
}

static void forget_fence(const void *fence)
{
	gt_lz_lock();
	gt_lz_remove(GT_LZ_FENCE, fence);
	gt_lz_unlock();
}

int gt_level_zero_wrap_zeFenceReset(const struct gt_call *call, void *fence)
{
	forget_fence(fence);
	return REAL(zeFenceReset)(fence);
}

int gt_level_zero_wrap_zeFenceDestroy(const struct gt_call *call, void *fence)
{
	forget_fence(fence);
	return REAL(zeFenceDestroy)(fence);
}

static int harvest_if_done(int status)
{
	if (!status)
		gt_lz_harvest_all();
	return status;
}

int gt_level_zero_wrap_zeEventHostSynchronize(const struct gt_call *call, void *event,
					      uint64_t timeout)
{
	return harvest_if_done(REAL(zeEventHostSynchronize)(event, timeout));
}

int gt_level_zero_wrap_zeEventQueryStatus(const struct gt_call *call, void *event)
{
	return harvest_if_done(REAL(zeEventQueryStatus)(event));
}

int gt_level_zero_wrap_zeDeviceSynchronize(const struct gt_call *call, void *device)
{
	return harvest_if_done(REAL(zeDeviceSynchronize)(device));
}
