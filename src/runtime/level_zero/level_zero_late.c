/* SPDX-License-Identifier: MIT */
/* See level_zero_late.h. The driver returns about an earlier object:
 *
 *   kernel          name, properties; its group size only when the program sets it again
 *   immediate list  context, device; from API 1.17 on whether it is in order, and its mode
 *   regular list    context, device; not the commands that it contains: a run of these commands is
 *                   one activity without times
 *   queue           the context and device of a list that runs on it
 *   event           the flags of its pool: whether it has times, and whether the host can query it
 *   memory          the range and type of its allocation
 *
 * Drivers answer these queries about lists and events from API 1.9 on. If a driver does not, the
 * capture names the object.
 *
 * Locking: one lock while an object is added, so that two threads that meet the same object add and
 * describe it once. The driver is queried with the lock held. */
#include "runtime/level_zero/level_zero_late.h"

#include <stdio.h>

#include "core/kernels.h"
#include "core/late.h"
#include "core/recording.h"
#include "tool/tool_activity.h"
#include "tool/tool_load.h"

enum { NAME_MAX_BYTES = 64 << 10 };

static _Atomic bool is_late;
static _Atomic bool is_unreported; /* true until tools know that activities are missed */
static struct gt_lz_lock meeting;

void gt_lz_come_late(void)
{
	atomic_store(&is_unreported, true);
	atomic_store(&is_late, true);
}

static bool has_come_late(void)
{
	return atomic_load_explicit(&is_late, memory_order_relaxed);
}

bool gt_lz_is_recording(void)
{
	return !gt_is_late() || !atomic_load_explicit(&gt_recording.off, memory_order_relaxed) ||
	       atomic_load_explicit(&gt_recording.tools, memory_order_relaxed);
}

/* Naming --------------------------------------------------------------------------- */

struct missing {
	struct gt_lz_object object;
	_Atomic uint32_t epoch; /* session that contains the name */
};

void gt_lz_name_missing(const void *handle, const char *what, const char *why)
{
	const uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	struct missing *m;
	char text[160];

	if (!handle || !gt_is_late() || !gt_lz_is_recording())
		return;
	m = gt_lz_add(GT_LZ_MISSING, handle);
	if (m && atomic_exchange(&m->epoch, epoch) == epoch)
		return;
	snprintf(text, sizeof text, "%s 0x%lx: %s", what, (unsigned long)(uintptr_t)handle, why);
	gt_late_missing(GT_DOMAIN_LEVEL_ZERO, text);
}

/* Name an object whose activities are not followed, in the capture and to tools. */
static void name_unknown(const void *handle, const char *what)
{
	gt_lz_name_missing(handle, what,
			   "created before gputap attached, and the driver reports neither its "
			   "context nor its device");
	if (gt_tool_activity_asked(GT_DOMAIN_LEVEL_ZERO) && atomic_exchange(&is_unreported, false))
		gt_tools_report_missed(GT_DOMAIN_LEVEL_ZERO, "GPU activities on Level Zero queues "
							     "and lists created earlier");
}

bool gt_lz_name_untimed(const struct gt_lz_list *list)
{
	if (!gt_is_late())
		return false;
	gt_lz_name_missing(list->object.handle, "times of commands in command list",
			   "their events have no times, because they were created before gputap "
			   "attached, or for other processes");
	return true;
}

bool gt_lz_name_earlier(const struct gt_lz_list *list)
{
	switch (atomic_load_explicit(&list->earlier, memory_order_relaxed)) {
	case GT_LZ_EARLIER_CERTAIN:
		gt_lz_name_missing(list->object.handle, "commands and times of command list",
				   "recorded before gputap attached");
		return true;
	case GT_LZ_EARLIER_PERHAPS:
		gt_lz_name_missing(list->object.handle, "earlier commands of command list",
				   "the list was open when gputap attached");
		return false;
	default: return false;
	}
}

/* Lists ---------------------------------------------------------------------------- */

static void follow_captures(struct gt_lz_list *list)
{
	if (GT_LZ(list->table, zeCommandListIsGraphCaptureEnabledExt) &&
	    GT_LZ(list->table, zeCommandListIsGraphCaptureEnabledExt)(
		    (void *)list->object.handle) == LZ_QUERY_TRUE)
		gt_lz_note_capture(list);
}

static struct gt_lz_list *add_immediate(void *handle, struct gt_lz_list *like)
{
	const struct gt_table *table = like->table;
	unsigned flags = 0, mode = 0;
	struct gt_lz_list *list;

	if (GT_LZ(table, zeCommandListImmediateGetFlags))
		GT_LZ(table, zeCommandListImmediateGetFlags)(handle, &flags);
	if (GT_LZ(table, zeCommandListImmediateGetMode))
		GT_LZ(table, zeCommandListImmediateGetMode)(handle, &mode);
	like->in_order = flags & LZ_QUEUE_IN_ORDER;
	like->queue =
		gt_lz_queue_add(handle,
				&(struct gt_lz_queue){.table = table,
						      .context = like->context,
						      .device = like->device,
						      .immediate = true,
						      .synchronous = mode == LZ_QUEUE_SYNCHRONOUS});
	list = like->queue ? gt_lz_list_add(handle, like) : NULL;
	if (list)
		follow_captures(list);
	return list;
}

static struct gt_lz_list *add_regular(void *handle, struct gt_lz_list *like)
{
	unsigned flags = 0;

	if (GT_LZ(like->table, zeCommandListGetFlags))
		GT_LZ(like->table, zeCommandListGetFlags)(handle, &flags);
	if (GT_LZ(like->table, zeCommandListGetOrdinal))
		GT_LZ(like->table, zeCommandListGetOrdinal)(handle, &like->ordinal);
	like->in_order = flags & LZ_LIST_IN_ORDER;
	return gt_lz_list_add(handle, like);
}

/* Query the driver about an earlier list and add it. Return NULL if the driver has no answer. */
static struct gt_lz_list *add_list(const struct gt_table *table, void *handle,
				   enum gt_lz_earlier earlier)
{
	struct gt_lz_list like = {.table = table};
	void *context = NULL, *device = NULL;
	unsigned char is_immediate = 0;

	if (!gt_lz_can_follow(table) || !GT_LZ(table, zeCommandListGetContextHandle) ||
	    !GT_LZ(table, zeCommandListGetDeviceHandle) ||
	    !GT_LZ(table, zeCommandListIsImmediate) ||
	    GT_LZ(table, zeCommandListGetContextHandle)(handle, &context) ||
	    GT_LZ(table, zeCommandListGetDeviceHandle)(handle, &device) ||
	    GT_LZ(table, zeCommandListIsImmediate)(handle, &is_immediate))
		return NULL;
	like.context = context;
	like.device = gt_lz_device(table, device);
	if (!like.device)
		return NULL;
	if (is_immediate)
		return add_immediate(handle, &like);
	like.earlier = earlier;
	return add_regular(handle, &like);
}

/* Write the records of objects that were created while no session recorded. */
static void describe_queue(struct gt_lz_queue *queue)
{
	if (gt_lz_is_described(&queue->description) || !gt_lz_is_recording())
		return;
	gt_lz_lock(&meeting);
	gt_lz_device(queue->table, (void *)queue->device->object.handle);
	if (!gt_lz_is_described(&queue->description))
		gt_lz_queue_describe(queue);
	gt_lz_unlock(&meeting);
}

struct gt_lz_list *gt_lz_meet_list(const struct gt_call *call, void *handle,
				   enum gt_lz_earlier earlier)
{
	struct gt_lz_list *list = gt_lz_find(GT_LZ_LIST, handle);

	if (list && list->queue)
		describe_queue(list->queue);
	if (list || !handle || !has_come_late() || !gt_lz_is_recording())
		return list;
	gt_lz_lock(&meeting);
	list = gt_lz_find(GT_LZ_LIST, handle);
	if (!list)
		list = add_list(call->table, handle, earlier);
	gt_lz_unlock(&meeting);
	if (!list)
		name_unknown(handle, "GPU activities of command list");
	return list;
}

void gt_lz_note_skipped(const void *handle)
{
	struct gt_lz_list *list = has_come_late() ? gt_lz_find(GT_LZ_LIST, handle) : NULL;

	if (list && !list->queue)
		atomic_store_explicit(&list->earlier, GT_LZ_EARLIER_CERTAIN, memory_order_relaxed);
}

/* Queues --------------------------------------------------------------------------- */

/* Add an earlier queue, in the context and on the device of a list that will run on it. */
static struct gt_lz_queue *add_queue(const struct gt_call *call, void *handle, uint32_t count,
				     void **lists)
{
	const struct gt_table *table = call->table;
	const struct gt_lz_list *list = NULL;
	struct gt_lz_queue *queue;
	unsigned mode = 0;

	for (uint32_t i = 0; i < count && !list; i++)
		list = gt_lz_meet_list(call, lists[i], GT_LZ_EARLIER_CERTAIN);
	if (!list)
		return NULL;
	if (GT_LZ(table, zeCommandQueueGetMode))
		GT_LZ(table, zeCommandQueueGetMode)(handle, &mode);
	gt_lz_lock(&meeting);
	queue = gt_lz_find(GT_LZ_QUEUE, handle);
	if (!queue)
		queue = gt_lz_queue_add(handle,
					&(struct gt_lz_queue){.table = table,
							      .context = list->context,
							      .device = list->device,
							      .synchronous = mode ==
									     LZ_QUEUE_SYNCHRONOUS});
	gt_lz_unlock(&meeting);
	return queue;
}

struct gt_lz_queue *gt_lz_meet_queue(const struct gt_call *call, const void *handle, uint32_t count,
				     void **lists, bool regular)
{
	struct gt_lz_queue *queue = gt_lz_find(GT_LZ_QUEUE, handle);
	const struct gt_lz_list *list;

	if (queue)
		describe_queue(queue);
	if (queue || !handle || !has_come_late() || !gt_lz_is_recording())
		return queue;
	if (regular) {
		queue = add_queue(call, (void *)handle, count, lists);
	} else {
		list = gt_lz_meet_list(call, (void *)handle, GT_LZ_EARLIER_NONE);
		queue = list ? list->queue : NULL;
	}
	if (!queue)
		name_unknown(handle, "GPU activities of queue");
	return queue;
}

/* Events --------------------------------------------------------------------------- */

static void fill_event(void *object, const void *data)
{
	const struct gt_lz_event *like = data;
	struct gt_lz_event *event = object;

	event->counter_based = like->counter_based;
	event->wants_times = like->wants_times;
	event->untimed = like->untimed;
	event->hidden = like->hidden;
	event->used = like->used;
}

/* Return true if a former command has signalled the event. */
static bool is_signalled(const struct gt_table *table, void *handle)
{
	return GT_LZ(table, zeEventQueryStatus) &&
	       GT_LZ(table, zeEventQueryStatus)(handle) == LZ_SUCCESS;
}

static struct gt_lz_event *add_event(const struct gt_table *table, void *handle)
{
	struct gt_lz_event like = {.wants_times = true};
	unsigned flags = 0, counter_flags = 0;
	void *pool = NULL;

	/* the times of counter-based events without a pool are unknown */
	if (!GT_LZ(table, zeEventGetEventPool) || !GT_LZ(table, zeEventPoolGetFlags) ||
	    GT_LZ(table, zeEventGetEventPool)(handle, &pool) || !pool ||
	    GT_LZ(table, zeEventPoolGetFlags)(pool, &flags))
		flags = 0;
	if (GT_LZ(table, zeEventGetCounterBasedFlags) &&
	    !GT_LZ(table, zeEventGetCounterBasedFlags)(handle, &counter_flags))
		like.counter_based = counter_flags != 0;
	like.hidden = !(flags & LZ_EVENT_POOL_HOST_VISIBLE);
	like.untimed = like.hidden || !(flags & (LZ_EVENT_POOL_TIMES | LZ_EVENT_POOL_MAPPED_TIMES));
	like.used = !like.hidden && is_signalled(table, handle);
	return gt_lz_add_filled(GT_LZ_EVENT, handle, fill_event, &like);
}

/* Return the event if it has times. */
struct gt_lz_event *gt_lz_meet_event(const struct gt_call *call, void *handle)
{
	struct gt_lz_event *event = gt_lz_find(GT_LZ_EVENT, handle);

	if (!event && has_come_late() && gt_lz_is_recording()) {
		gt_lz_lock(&meeting);
		event = gt_lz_find(GT_LZ_EVENT, handle);
		if (!event)
			event = add_event(call->table, handle);
		gt_lz_unlock(&meeting);
	}
	return event && !event->untimed ? event : NULL;
}

/* Kernels -------------------------------------------------------------------------- */

/* Name a kernel that was created earlier. The caller holds the lock. */
static void name_kernel(const struct gt_table *table, struct gt_lz_kernel *k)
{
	static char name[NAME_MAX_BYTES];
	size_t bytes = sizeof name;

	if (k->name || !GT_LZ(table, zeKernelGetName) ||
	    GT_LZ(table, zeKernelGetName)((void *)k->object.handle, &bytes, NULL) ||
	    bytes > sizeof name ||
	    GT_LZ(table, zeKernelGetName)((void *)k->object.handle, &bytes, name))
		return;
	name[sizeof name - 1] = '\0';
	gt_lz_kernel_name(table, k, name);
}

/* Bring a kernel up to date with this session. */
static void renew_kernel(const struct gt_table *table, struct gt_lz_kernel *k)
{
	const uint32_t epoch = atomic_load_explicit(gt_epoch, memory_order_relaxed);
	const char *name = gt_string_text(k->name);

	if (name && !gt_lz_is_described(&k->description))
		gt_lz_kernel_name(table, k, name);
	else if (name)
		k->unwanted = !gt_kernel_wanted(name, strlen(name));
	else
		name_kernel(table, k);
	atomic_store_explicit(&k->epoch, epoch, memory_order_relaxed);
}

struct gt_lz_kernel *gt_lz_meet_kernel(const struct gt_call *call, void *handle)
{
	struct gt_lz_kernel *k = gt_lz_find(GT_LZ_KERNEL, handle);

	if (!has_come_late() || !handle ||
	    (k && (!gt_lz_is_recording() ||
		   atomic_load_explicit(&k->epoch, memory_order_relaxed) ==
			   atomic_load_explicit(gt_epoch, memory_order_relaxed))))
		return k;
	gt_lz_lock(&meeting);
	k = gt_lz_add(GT_LZ_KERNEL, handle);
	if (k && gt_lz_is_recording())
		renew_kernel(call->table, k);
	gt_lz_unlock(&meeting);
	return k;
}

/* Memory --------------------------------------------------------------------------- */

bool gt_lz_find_allocation(const struct gt_call *call, void *list_handle, const void *address,
			   struct gt_lz_range *range)
{
	struct lz_memory_properties p = {.head = {LZ_MEMORY_PROPERTIES, NULL}};
	const struct gt_table *table = call->table;
	const struct gt_lz_list *list;
	void *device, *context;

	if (!has_come_late() || !gt_lz_is_recording() || !GT_LZ(table, zeMemGetAllocProperties) ||
	    !GT_LZ(table, zeMemGetAddressRange))
		return false;
	list = gt_lz_meet_list(call, list_handle, GT_LZ_EARLIER_PERHAPS);
	if (!list)
		return false;
	context = (void *)list->context;
	return !GT_LZ(table, zeMemGetAllocProperties)(context, address, &p, &device) &&
	       (p.type == LZ_MEMORY_DEVICE || p.type == LZ_MEMORY_SHARED) &&
	       !GT_LZ(table, zeMemGetAddressRange)(context, address, &range->first, &range->bytes);
}
