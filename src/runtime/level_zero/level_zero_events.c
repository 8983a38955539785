/* SPDX-License-Identifier: MIT */
/* Wraps the creation and destruction of the program's queues, lists, events and kernels. */
#include "runtime/level_zero/level_zero_late.h"
#include "runtime/level_zero/level_zero_objects.h"

#define REAL(name) ((gt_level_zero_##name##_fn *)call->tap->real)

static struct gt_lz_queue *add_queue(const struct gt_call *call, const void *context,
				     struct gt_lz_device *device, const void *handle,
				     const struct lz_queue_desc *desc, bool immediate)
{
	return gt_lz_queue_add(
		handle,
		&(struct gt_lz_queue){.table = call->table,
				      .context = context,
				      .device = device,
				      .immediate = immediate,
				      .synchronous = desc && desc->mode == LZ_QUEUE_SYNCHRONOUS});
}

static int follow_queue(const struct gt_call *call, int status, const void *context, void *device,
			const void *desc, void **queue)
{
	struct gt_lz_device *d;

	if (status || !queue || !gt_lz_can_follow(call->table))
		return status;
	d = gt_lz_device(call->table, device);
	if (d)
		add_queue(call, context, d, *queue, desc, false);
	return status;
}

static int follow_list(const struct gt_call *call, int status, const void *context, void *device,
		       const struct lz_list_desc *desc, void **handle)
{
	struct gt_lz_list like = {.table = call->table, .context = context};

	if (status || !handle || !gt_lz_can_follow(call->table))
		return status;
	like.device = gt_lz_device(call->table, device);
	if (desc) {
		like.ordinal = desc->ordinal;
		like.in_order = desc->flags & LZ_LIST_IN_ORDER;
	}
	if (like.device)
		gt_lz_list_add(*handle, &like);
	return status;
}

/* Follow an immediate list. Create the list's first events now, so that no launch has to create
 * them. */
static int follow_immediate(const struct gt_call *call, int status, const void *context,
			    void *device, const struct lz_queue_desc *desc, void **handle)
{
	struct gt_lz_list like = {.table = call->table, .context = context};
	struct gt_lz_own *own;

	if (status || !handle || !gt_lz_can_follow(call->table))
		return status;
	like.device = gt_lz_device(call->table, device);
	if (!like.device)
		return status;
	like.queue = add_queue(call, context, like.device, *handle, desc, true);
	like.in_order = desc && desc->flags & LZ_QUEUE_IN_ORDER;
	if (!like.queue || !gt_lz_list_add(*handle, &like) || !gt_lz_is_recording())
		return status;
	gt_lz_lock(&like.queue->lock);
	own = gt_lz_own_take(call->table, context, &like.queue->own);
	if (own) {
		own->next = like.queue->own;
		like.queue->own = own;
	}
	gt_lz_unlock(&like.queue->lock);
	return status;
}

int gt_level_zero_wrap_zeCommandQueueCreate(const struct gt_call *call, void *context, void *device,
					    const void *desc, void **queue)
{
	return follow_queue(call, REAL(zeCommandQueueCreate)(context, device, desc, queue), context,
			    device, desc, queue);
}

int gt_level_zero_wrap_zeCommandListCreate(const struct gt_call *call, void *context, void *device,
					   const void *desc, void **list)
{
	return follow_list(call, REAL(zeCommandListCreate)(context, device, desc, list), context,
			   device, desc, list);
}

int gt_level_zero_wrap_zeCommandListCreateImmediate(const struct gt_call *call, void *context,
						    void *device, const void *desc, void **list)
{
	return follow_immediate(call,
				REAL(zeCommandListCreateImmediate)(context, device, desc, list),
				context, device, desc, list);
}

static void end_queue(const void *handle)
{
	struct gt_lz_queue *queue = gt_lz_find(GT_LZ_QUEUE, handle);

	if (!queue)
		return;
	/* in a correct program, nothing is in flight here */
	gt_lz_harvest(queue, UINT64_MAX);
	gt_lz_lock(&queue->lock);
	gt_lz_owns_end(queue->context, &queue->own);
	gt_lz_stock_end(&queue->items);
	gt_lz_unlock(&queue->lock);
	gt_fork_replay_remove(gt_thread_own(), queue->description.replay);
	gt_lz_remove(GT_LZ_QUEUE, handle);
}

static void end_list(const void *handle)
{
	struct gt_lz_list *list = gt_lz_find(GT_LZ_LIST, handle);

	if (!list)
		return;
	gt_lz_list_empty(list);
	if (list->queue)
		end_queue(handle);
	gt_lz_owns_end(list->context, &list->own);
	gt_lz_stock_end(&list->entries);
	gt_lz_remove(GT_LZ_LIST, handle);
}

int gt_level_zero_wrap_zeCommandQueueDestroy(const struct gt_call *call, void *queue)
{
	end_queue(queue);
	return REAL(zeCommandQueueDestroy)(queue);
}

int gt_level_zero_wrap_zeCommandListDestroy(const struct gt_call *call, void *list)
{
	end_list(list);
	return REAL(zeCommandListDestroy)(list);
}

int gt_level_zero_wrap_zeCommandListReset(const struct gt_call *call, void *handle)
{
	struct gt_lz_list *list = gt_lz_meet_list(call, handle, GT_LZ_EARLIER_PERHAPS);

	if (list && !list->queue) {
		gt_lz_list_empty(list);
		atomic_store_explicit(&list->earlier, GT_LZ_EARLIER_NONE, memory_order_relaxed);
	}
	return REAL(zeCommandListReset)(handle);
}

int gt_level_zero_wrap_zeContextDestroy(const struct gt_call *call, void *context)
{
	gt_lz_harvest_all();
	gt_lz_context_end(context);
	return REAL(zeContextDestroy)(context);
}

/* The program's events --------------------------------------------------------------- */

static bool is_counter_based(const struct lz_event_pool_desc *desc)
{
	for (const struct lz_chained *c = desc->head.next; c; c = c->next)
		if (c->type == LZ_COUNTER_BASED_EVENT_POOL_DESC)
			return true;
	return false;
}

static void add_pool(const void *pool, const struct lz_event_pool_desc *wanted)
{
	struct gt_lz_pool *p = gt_lz_add(GT_LZ_POOL, pool);

	if (!p)
		return;
	p->counter_based = is_counter_based(wanted);
	p->wants_times = wanted->flags & (LZ_EVENT_POOL_TIMES | LZ_EVENT_POOL_MAPPED_TIMES);
}

/* Create the pool with times if the driver allows times. Otherwise create the pool that the program
 * requested, and return the driver's answer to that request. gputap cannot read times from the
 * events of such a pool. */
int gt_level_zero_wrap_zeEventPoolCreate(const struct gt_call *call, void *context,
					 const void *desc, uint32_t device_count, void **devices,
					 void **pool)
{
	const struct lz_event_pool_desc *wanted = desc;
	struct lz_event_pool_desc timed;

	if (!wanted || wanted->flags & LZ_EVENT_POOL_IPC || !gt_lz_is_recording())
		return REAL(zeEventPoolCreate)(context, desc, device_count, devices, pool);
	timed = *wanted;
	timed.flags |= LZ_EVENT_POOL_HOST_VISIBLE;
	/* events of pools with mapped timestamps also have the device's times */
	if (!(timed.flags & LZ_EVENT_POOL_MAPPED_TIMES))
		timed.flags |= LZ_EVENT_POOL_TIMES;
	if (REAL(zeEventPoolCreate)(context, &timed, device_count, devices, pool))
		return REAL(zeEventPoolCreate)(context, desc, device_count, devices, pool);
	if (pool)
		add_pool(*pool, wanted);
	return LZ_SUCCESS;
}

int gt_level_zero_wrap_zeEventPoolDestroy(const struct gt_call *call, void *pool)
{
	gt_lz_remove(GT_LZ_POOL, pool);
	return REAL(zeEventPoolDestroy)(pool);
}

int gt_level_zero_wrap_zeEventCreate(const struct gt_call *call, void *pool, const void *desc,
				     void **event)
{
	int status = REAL(zeEventCreate)(pool, desc, event);
	const struct gt_lz_pool *p;
	struct gt_lz_event *e;

	if (status || !event)
		return status;
	p = gt_lz_find(GT_LZ_POOL, pool);
	e = p ? gt_lz_add(GT_LZ_EVENT, *event) : NULL;
	if (e) {
		e->counter_based = p->counter_based;
		e->wants_times = p->wants_times;
	}
	return status;
}

/* Create an event without a pool, with times if the driver allows times. */
static int create_counter_based(int (*create)(void *, void *, const void *, void **), void *context,
				void *device, const void *desc, void **event)
{
	const struct lz_counter_based_desc *wanted = desc;
	struct lz_counter_based_desc timed;
	struct gt_lz_event *e;

	if (!wanted || wanted->flags & LZ_COUNTER_BASED_IPC || !gt_lz_is_recording())
		return create(context, device, desc, event);
	timed = *wanted;
	timed.flags |= LZ_COUNTER_BASED_HOST_VISIBLE;
	if (!(timed.flags & LZ_COUNTER_BASED_MAPPED_TIMES))
		timed.flags |= LZ_COUNTER_BASED_TIMES;
	if (create(context, device, &timed, event))
		return create(context, device, desc, event);
	e = event ? gt_lz_add(GT_LZ_EVENT, *event) : NULL;
	if (e) {
		e->counter_based = true;
		e->wants_times =
			wanted->flags & (LZ_COUNTER_BASED_TIMES | LZ_COUNTER_BASED_MAPPED_TIMES);
	}
	return LZ_SUCCESS;
}

int gt_level_zero_wrap_zeEventCounterBasedCreate(const struct gt_call *call, void *context,
						 void *device, const void *desc, void **event)
{
	return create_counter_based(REAL(zeEventCounterBasedCreate), context, device, desc, event);
}

int gt_level_zero_wrap_zexCounterBasedEventCreate2(const struct gt_call *call, void *context,
						   void *device, const void *desc, void **event)
{
	return create_counter_based(REAL(zexCounterBasedEventCreate2), context, device, desc,
				    event);
}

static struct gt_lz_event *detach_event(const void *handle)
{
	struct gt_lz_event *event = gt_lz_find(GT_LZ_EVENT, handle);

	if (event)
		gt_lz_event_detach(event, NULL, true);
	return event;
}

int gt_level_zero_wrap_zeEventDestroy(const struct gt_call *call, void *event)
{
	if (detach_event(event))
		gt_lz_remove(GT_LZ_EVENT, event);
	return REAL(zeEventDestroy)(event);
}

int gt_level_zero_wrap_zeEventHostReset(const struct gt_call *call, void *handle)
{
	struct gt_lz_event *event = detach_event(handle);
	int status = REAL(zeEventHostReset)(handle);

	if (event && !status)
		atomic_store_explicit(&event->used, false, memory_order_relaxed);
	return status;
}

/* Kernels ---------------------------------------------------------------------------- */

int gt_level_zero_wrap_zeKernelCreate(const struct gt_call *call, void *module, const void *desc,
				      void **kernel)
{
	const struct lz_kernel_desc *d = desc;
	int status = REAL(zeKernelCreate)(module, desc, kernel);
	struct gt_lz_kernel *k;

	if (status || !kernel || !d || !d->name)
		return status;
	k = gt_lz_add(GT_LZ_KERNEL, *kernel);
	if (k)
		gt_lz_kernel_name(call->table, k, d->name);
	return status;
}

int gt_level_zero_wrap_zeKernelDestroy(const struct gt_call *call, void *kernel)
{
	struct gt_lz_kernel *k = gt_lz_find(GT_LZ_KERNEL, kernel);

	if (k)
		gt_fork_replay_remove(gt_thread_own(), k->description.replay);
	gt_lz_remove(GT_LZ_KERNEL, kernel);
	return REAL(zeKernelDestroy)(kernel);
}

int gt_level_zero_wrap_zeKernelSetGroupSize(const struct gt_call *call, void *kernel, uint32_t x,
					    uint32_t y, uint32_t z)
{
	int status = REAL(zeKernelSetGroupSize)(kernel, x, y, z);
	struct gt_lz_kernel *k;

	if (status)
		return status;
	k = gt_lz_meet_kernel(call, kernel);
	if (k) {
		k->group[0] = x;
		k->group[1] = y;
		k->group[2] = z;
	}
	return status;
}
