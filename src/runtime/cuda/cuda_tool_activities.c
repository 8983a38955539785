/* SPDX-License-Identifier: MIT */
/* Notifies tools of GPU activities, from launch to record.
 *
 *   callback, ENTER   a tool activity is taken, tools get ENTER        launching thread
 *   callback, EXIT    tools get EXIT                           launching thread
 *   record            tools get COMPLETE                       reader of CUPTI's buffers
 *
 * Each of the last PLACES correlation ids has one slot. EXIT and the record may come in either
 * order. The thread that handles the later of the two fills in the tool activity, so that no other
 * thread writes to it during EXIT. If the number of a launch's records is not known in advance (a
 * graph's launch; a launch into a captured stream), the tool activity is only kept. A separate tool
 * activity is then made for each record, with the launch's call, thread and external ids. All three
 * phases of such a tool activity take place in the reader's thread. The kept tool activity's call
 * retires when the tool activity is returned: after the last record, or, if the number of records
 * is unknown, when the slot is reused.
 *
 * Locking: a spin lock around the slots; no tool is called with it held.
 * The lock is taken only if a tool wants CUDA's activities. Otherwise each launch and each record
 * cost one load. */
#include <sched.h>
#include <string.h>

#include "runtime/cuda/cuda_parts.h"
#include "tool/tool_activity.h"
#include "util/zeroed.h"

enum { PLACES = 1 << 16 };

/* Data copied from a record. */
struct details {
	struct gt_record_device record;
	uint32_t device; /* CUPTI's device number */
};

static struct place {
	struct gt_tool_activity *tool_activity; /* NULL if the slot is free */
	uint32_t correlation;
	uint32_t records; /* number of records still to come, while kept; 0 if unknown */
	bool is_kept, is_left, has_details;
	struct details details;
} * places; /* PLACES slots, mapped for the first launch; set with the lock held */

static _Atomic uint32_t lock;
/* correlation of the tool activity that awaits EXIT, or 0 */
static _Thread_local uint32_t open_correlation;

static void take_lock(void)
{
	while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
		sched_yield();
}

static void give_lock(void)
{
	atomic_store_explicit(&lock, 0, memory_order_release);
}

static struct place *place_of(uint32_t correlation)
{
	return places ? &places[correlation % PLACES] : NULL;
}

/* Return the slot of @correlation, or NULL. The caller holds the lock. */
static struct place *find_place(uint32_t correlation)
{
	struct place *p = place_of(correlation);

	return p && p->tool_activity && p->correlation == correlation ? p : NULL;
}

static void put_tool_activity(uint32_t correlation, struct gt_tool_activity *tool_activity,
			      bool is_kept, uint32_t records)
{
	struct gt_tool_activity *old = tool_activity;
	bool was_kept = is_kept;
	struct place *p;

	take_lock();
	if (!places)
		places = gt_zeroed_map(PLACES * sizeof *places);
	p = place_of(correlation);
	if (p) {
		old = p->tool_activity;
		was_kept = p->is_kept;
		*p = (struct place){.tool_activity = tool_activity,
				    .correlation = correlation,
				    .records = records,
				    .is_kept = is_kept};
	}
	give_lock();
	if (old && was_kept)
		gt_tool_activity_give(old);
	else if (old)
		gt_tool_activity_drop(old, true);
}

void gt_cuda_items_enter(uint32_t correlation, uint32_t id, bool is_open, uint32_t records)
{
	struct gt_tool_activity *tool_activity = gt_tool_activity_take(GT_DOMAIN_CUDA_DRIVER, true);

	if (!tool_activity)
		return;
	gt_tool_ticks_start();
	tool_activity->activity.type = gt_cuda_activity_ops[id];
	tool_activity->dispatch = tool_activity->activity.type == GPUTAP_ACTIVITY_KERNEL;
	tool_activity->began = gt_ticks();
	if (!is_open) {
		if (!gt_tool_activity_enter(tool_activity))
			return;
		open_correlation = correlation;
	}
	put_tool_activity(correlation, tool_activity, is_open, records);
}

static void fill_tool_activity(struct gt_tool_activity *tool_activity, const struct details *d)
{
	const struct gt_record_device *r = &d->record;
	struct gputap_activity *w = &tool_activity->activity;
	bool is_kernel = r->head.detail == GT_DEVICE_KERNEL;

	w->type = r->head.detail;
	w->device = GT_DEVICE_REF_NUMBER(r->head.op);
	w->device_handle = d->device;
	w->queue = (uint32_t)r->queue;
	w->name = r->name ? gt_string_text(r->name) : NULL;
	w->bytes = r->bytes;
	w->graph = (uint32_t)(r->queue >> 32);
	w->replay = r->replay;
	w->ordinal = r->ordinal;
	if (!is_kernel)
		return;
	w->kernel = GT_KERNEL_SYMBOL(r->object[1]);
	w->group_bytes = GT_KERNEL_GROUP_BYTES(r->object[1]);
	w->private_bytes = GT_KERNEL_PRIVATE_BYTES(r->object[1]);
	memcpy(w->grid, r->global, sizeof w->grid);
	memcpy(w->group, r->local, sizeof w->group);
}

static void complete_tool_activity(struct gt_tool_activity *tool_activity, const struct details *d)
{
	gt_tool_activity_done(tool_activity, 0, gt_tool_ticks_ns(d->record.start),
			      gt_tool_ticks_ns(d->record.end));
}

void gt_cuda_items_exit(uint32_t correlation, bool refused)
{
	struct gt_tool_activity *tool_activity = NULL;
	bool completes = false;
	struct details details;
	struct place *p;

	if (open_correlation != correlation)
		return;
	open_correlation = 0;
	take_lock();
	p = find_place(correlation);
	if (p) {
		tool_activity = p->tool_activity;
		completes = p->has_details;
		if (completes)
			details = p->details;
	}
	give_lock();
	if (!tool_activity)
		return;
	if (completes)
		fill_tool_activity(tool_activity, &details);
	gt_tool_activity_exit(tool_activity);
	take_lock();
	p = find_place(correlation);
	if (p && p->tool_activity == tool_activity) {
		if (!completes && p->has_details) { /* the record came during EXIT */
			completes = true;
			details = p->details;
			fill_tool_activity(tool_activity, &details);
		}
		p->is_left = true;
		if (completes || refused)
			p->tool_activity = NULL;
	}
	give_lock();
	if (completes)
		complete_tool_activity(tool_activity, &details);
	else if (refused)
		gt_tool_activity_drop(tool_activity, false);
}

/* Notify tools of a record of a kept launch, with a separate tool activity.
 * @launch: data of the kept tool activity */
static void complete_kept(const struct gputap_activity *launch, uint64_t began,
			  const struct details *d)
{
	struct gt_tool_activity *tool_activity = gt_tool_activity_take(GT_DOMAIN_CUDA_DRIVER, true);

	if (!tool_activity)
		return;
	if (tool_activity->shared)
		gt_correlation_put(tool_activity->shared);
	tool_activity->shared = NULL;
	tool_activity->activity.thread = launch->thread;
	tool_activity->activity.correlation = launch->correlation;
	memcpy(tool_activity->activity.external, launch->external,
	       sizeof tool_activity->activity.external);
	fill_tool_activity(tool_activity, d);
	tool_activity->dispatch = tool_activity->activity.type == GPUTAP_ACTIVITY_KERNEL;
	if (!gt_tool_activity_enter(tool_activity))
		return;
	gt_tool_activity_exit(tool_activity);
	tool_activity->entered = gt_tool_ticks_ns(began);
	complete_tool_activity(tool_activity, d);
}

void gt_cuda_items_done(uint32_t correlation, const struct gt_record_device *r, uint32_t device)
{
	const struct details details = {*r, device};
	struct gt_tool_activity *tool_activity = NULL, *over = NULL;
	struct gputap_activity launch;
	uint64_t began = 0;
	struct place *p;
	bool is_kept = false;

	take_lock();
	p = find_place(correlation);
	if (p && p->is_kept) {
		is_kept = true;
		launch = p->tool_activity->activity;
		began = p->tool_activity->began;
		if (p->records && !--p->records) {
			over = p->tool_activity;
			p->tool_activity = NULL;
		}
	} else if (p && p->is_left) {
		tool_activity = p->tool_activity;
		p->tool_activity = NULL;
	} else if (p) {
		p->details = details;
		p->has_details = true;
	}
	give_lock();
	if (is_kept)
		complete_kept(&launch, began, &details);
	if (over)
		gt_tool_activity_give(over);
	if (!tool_activity)
		return;
	fill_tool_activity(tool_activity, &details);
	complete_tool_activity(tool_activity, &details);
}

void gt_cuda_items_device(uint32_t number, uint32_t device, const struct gt_text *text)
{
	static const char key[] = "name=";
	const char *name = text->data + strlen(key);
	struct gputap_object o = {.domain = GPUTAP_DOMAIN_CUDA_DRIVER,
				  .type = GPUTAP_OBJECT_DEVICE,
				  .number = number,
				  .handle = device,
				  .device_handle = device,
				  .storage_file = -1};

	if (text->bytes > strlen(key) && !strncmp(text->data, key, strlen(key)))
		o.name = gt_tool_text(name, strlen(name));
	gt_tool_object_loaded(gt_tool_object_add(&o, NULL));
}
