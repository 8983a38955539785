/* SPDX-License-Identifier: MIT */
/* The program's queues, lists, events and kernels: when they come and go. */
#include <stdlib.h>
#include <string.h>

#include "core/kernels.h"
#include "runtime/level_zero/level_zero_objects.h"

#define REAL(name) ((gt_level_zero_##name##_fn *)call->tap->real)

/* Can this driver's work be followed? */
static bool has_events(const struct gt_table *table)
{
	return GT_LZ(table, zeEventPoolCreate) && GT_LZ(table, zeEventCreate) &&
	       GT_LZ(table, zeEventQueryStatus) && GT_LZ(table, zeEventHostReset) &&
	       GT_LZ(table, zeEventQueryKernelTimestamp);
}

static void end_process(void)
{
	gt_lz_harvest_all();
}

/* With the lock held. */
static struct gt_lz_queue *add_queue(const struct gt_call *call, const void *context,
				     struct gt_lz_device *device, const void *handle,
				     const char *name)
{
	struct gt_lz_queue *queue = gt_lz_add(GT_LZ_QUEUE, handle);
	static bool registered;
	struct gt_text text = {0};

	if (!queue)
		return NULL;
	if (!registered)
		atexit(end_process);
	registered = true;
	queue->table = call->table;
	queue->context = context;
	queue->device = device;
	queue->look = 256;
	queue->number = gt_object_number(GT_OBJECT_QUEUE);
	gt_text_add(&text, "name", name);
	gt_object_write(call->thread, GT_OBJECT_QUEUE, GT_DOMAIN_LEVEL_ZERO, queue->number,
			(uintptr_t)handle, device->number, &text);
	return queue;
}

static int follow_queue(const struct gt_call *call, int status, const void *context, void *device,
			void **queue)
{
	struct gt_lz_device *d;

	if (status || !queue || !has_events(call->table))
		return status;
	gt_lz_lock();
	d = gt_lz_device(call->table, call->thread, device);
	if (d)
		add_queue(call, context, d, *queue, "queue");
	gt_lz_unlock();
	return status;
}

static int follow_list(const struct gt_call *call, int status, const void *context, void *device,
		       void **handle, bool immediate)
{
	struct gt_lz_device *d;
	struct gt_lz_list *list;

	if (status || !handle || !has_events(call->table))
		return status;
	gt_lz_lock();
	d = gt_lz_device(call->table, call->thread, device);
	list = d ? gt_lz_add(GT_LZ_LIST, *handle) : NULL;
	if (list) {
		list->table = call->table;
		list->context = context;
		list->device = d;
		list->immediate = immediate;
		if (immediate)
			add_queue(call, context, d, *handle, "immediate list");
	}
	gt_lz_unlock();
	return status;
}

int gt_level_zero_wrap_zeCommandQueueCreate(const struct gt_call *call, void *context, void *device,
					    const void *desc, void **queue)
{
	return follow_queue(call, REAL(zeCommandQueueCreate)(context, device, desc, queue), context,
			    device, queue);
}

int gt_level_zero_wrap_zeCommandListCreate(const struct gt_call *call, void *context, void *device,
					   const void *desc, void **list)
{
	return follow_list(call, REAL(zeCommandListCreate)(context, device, desc, list), context,
			   device, list, false);
}

int gt_level_zero_wrap_zeCommandListCreateImmediate(const struct gt_call *call, void *context,
						    void *device, const void *desc, void **list)
{
	return follow_list(call, REAL(zeCommandListCreateImmediate)(context, device, desc, list),
			   context, device, list, true);
}

static void end_queue(const void *handle)
{
	gt_lz_harvest(handle, UINT64_MAX); /* nothing is in flight, or the program errs */
	gt_lz_lock();
	gt_lz_remove(GT_LZ_QUEUE, handle);
	gt_lz_unlock();
}

static void empty_list(const void *handle, bool ends)
{
	struct gt_lz_list *list;

	gt_lz_lock();
	list = gt_lz_find(GT_LZ_LIST, handle);
	gt_lz_unlock();
	if (!list)
		return;
	gt_lz_list_empty(list);
	if (ends && list->immediate)
		end_queue(handle);
	gt_lz_lock();
	if (ends)
		gt_lz_remove(GT_LZ_LIST, handle);
	gt_lz_unlock();
}

int gt_level_zero_wrap_zeCommandQueueDestroy(const struct gt_call *call, void *queue)
{
	end_queue(queue);
	return REAL(zeCommandQueueDestroy)(queue);
}

int gt_level_zero_wrap_zeCommandListDestroy(const struct gt_call *call, void *list)
{
	empty_list(list, true);
	return REAL(zeCommandListDestroy)(list);
}

int gt_level_zero_wrap_zeCommandListReset(const struct gt_call *call, void *list)
{
	empty_list(list, false);
	return REAL(zeCommandListReset)(list);
}

int gt_level_zero_wrap_zeContextDestroy(const struct gt_call *call, void *context)
{
	gt_lz_harvest_all();
	gt_lz_lock();
	gt_lz_context_end(context);
	gt_lz_unlock();
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

int gt_level_zero_wrap_zeEventPoolCreate(const struct gt_call *call, void *context,
					 const void *desc, uint32_t device_count, void **devices,
					 void **pool)
{
	const struct lz_event_pool_desc *wanted = desc;
	struct lz_event_pool_desc timed;
	struct gt_lz_pool *p;
	int status;

	if (!wanted || wanted->flags & (LZ_EVENT_POOL_IPC | LZ_EVENT_POOL_MAPPED_TIMES))
		return REAL(zeEventPoolCreate)(context, desc, device_count, devices, pool);
	timed = *wanted;
	timed.flags |= LZ_EVENT_POOL_HOST_VISIBLE | LZ_EVENT_POOL_TIMES;
	status = REAL(zeEventPoolCreate)(context, &timed, device_count, devices, pool);
	if (status || !pool)
		return status;
	gt_lz_lock();
	p = gt_lz_add(GT_LZ_POOL, *pool);
	if (p)
		p->counter_based = is_counter_based(wanted);
	gt_lz_unlock();
	return status;
}

int gt_level_zero_wrap_zeEventPoolDestroy(const struct gt_call *call, void *pool)
{
	gt_lz_lock();
	gt_lz_remove(GT_LZ_POOL, pool);
	gt_lz_unlock();
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
	gt_lz_lock();
	p = gt_lz_find(GT_LZ_POOL, pool);
	e = p ? gt_lz_add(GT_LZ_EVENT, *event) : NULL;
	if (e)
		e->counter_based = p->counter_based;
	gt_lz_unlock();
	return status;
}

int gt_level_zero_wrap_zeEventDestroy(const struct gt_call *call, void *event)
{
	gt_lz_event_detach(event);
	gt_lz_lock();
	gt_lz_remove(GT_LZ_EVENT, event);
	gt_lz_unlock();
	return REAL(zeEventDestroy)(event);
}

int gt_level_zero_wrap_zeEventHostReset(const struct gt_call *call, void *event)
{
	gt_lz_event_detach(event);
	return REAL(zeEventHostReset)(event);
}

/* Kernels ---------------------------------------------------------------------------- */

int gt_level_zero_wrap_zeKernelCreate(const struct gt_call *call, void *module, const void *desc,
				      void **kernel)
{
	const struct lz_kernel_desc *d = desc;
	int status = REAL(zeKernelCreate)(module, desc, kernel);
	struct gt_lz_kernel *k;
	uint32_t name;
	bool unwanted;

	if (status || !kernel || !d || !d->name)
		return status;
	unwanted = !gt_kernel_wanted(d->name, strlen(d->name));
	name = gt_string_id(gt_thread_own(), d->name, strlen(d->name));
	gt_lz_lock();
	k = gt_lz_add(GT_LZ_KERNEL, *kernel);
	if (k) {
		k->name = name;
		k->unwanted = unwanted;
	}
	gt_lz_unlock();
	return status;
}

int gt_level_zero_wrap_zeKernelDestroy(const struct gt_call *call, void *kernel)
{
	gt_lz_lock();
	gt_lz_remove(GT_LZ_KERNEL, kernel);
	gt_lz_unlock();
	return REAL(zeKernelDestroy)(kernel);
}

int gt_level_zero_wrap_zeKernelSetGroupSize(const struct gt_call *call, void *kernel, uint32_t x,
					    uint32_t y, uint32_t z)
{
	int status = REAL(zeKernelSetGroupSize)(kernel, x, y, z);
	struct gt_lz_kernel *k;

	if (status)
		return status;
	gt_lz_lock();
	k = gt_lz_find(GT_LZ_KERNEL, kernel);
	if (k) {
		k->group[0] = x;
		k->group[1] = y;
		k->group[2] = z;
	}
	gt_lz_unlock();
	return status;
}
