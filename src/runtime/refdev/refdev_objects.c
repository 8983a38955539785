/* SPDX-License-Identifier: MIT */
/* See refdev_objects.h. Entries are looked up without a lock, added with a lock, and never removed,
 * because the runtime numbers a device's streams and graphs and does not reuse the numbers. Their
 * records are written again in each further session, and in the child of a fork, which has no
 * device and does not refer to them. */
#include "runtime/refdev/refdev_objects.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/recording.h"
#include "generated/refdev_taps.h"
#include "generated/refdev_wraps.h"
#include "tool/tool_activity.h"
#include "util/clock_ns.h"

enum { BUCKETS = 256, DEVICES = 16 };
#define FIRST_PAUSE_NS UINT64_C(1000000) /* pause between readings of a clock; doubles up to 1 s */
#define LAST_PAUSE_NS  UINT64_C(1000000000)

struct object_entry {
	struct object_entry *next;
	enum gt_object_type type;
	uint64_t key, number;
};

struct clock_schedule {
	_Atomic uint64_t next_ns, pause_ns;
	_Atomic uint32_t epoch; /* session whose capture the readings are in */
};

static _Atomic(struct object_entry *) buckets[BUCKETS];
static struct clock_schedule readings[DEVICES];

static _Atomic(struct object_entry *) *bucket_of(enum gt_object_type type, uint64_t key)
{
	return &buckets[(key * UINT64_C(0x9e3779b97f4a7c15) + type) >> 56];
}

static const struct object_entry *find_object(enum gt_object_type type, uint64_t key)
{
	const struct object_entry *e =
		atomic_load_explicit(bucket_of(type, key), memory_order_acquire);

	while (e && (e->key != key || e->type != type))
		e = e->next;
	return e;
}

struct named_object {
	enum gt_object_type type;
	uint64_t key, handle, parent;
	uint64_t device_handle;
	const char *name; /* name of a device */
};

static void notify_object(const struct named_object *what, uint64_t number)
{
	const struct gputap_object o = {
		.domain = GPUTAP_DOMAIN_REFDEV,
		.type = what->type == GT_OBJECT_DEVICE ? GPUTAP_OBJECT_DEVICE : GPUTAP_OBJECT_QUEUE,
		.number = number,
		.parent = what->parent,
		.handle = what->handle,
		.device_handle = what->device_handle,
		.name = what->name ? gt_tool_text(what->name, strlen(what->name)) : NULL,
		.storage_file = -1,
	};

	gt_tool_object_loaded(gt_tool_object_add(&o, NULL));
}

/* Return the number of a handle's object. @text: description of the object, which is written only
 * once. */
static uint64_t number_of_handle(struct gt_thread *t, const struct named_object *what,
				 const struct gt_text *text)
{
	const struct object_entry *there;
	struct object_entry *e = NULL;

	gt_core_lock();
	there = find_object(what->type, what->key);
	if (!there)
		e = gt_arena_take(sizeof *e);
	if (e) {
		_Atomic(struct object_entry *) *bucket = bucket_of(what->type, what->key);

		*e = (struct object_entry){atomic_load_explicit(bucket, memory_order_relaxed),
					   what->type, what->key, gt_object_number(what->type)};
		atomic_store_explicit(bucket, e, memory_order_release);
	}
	gt_core_unlock();
	if (e && e->number) {
		gt_fork_replay_add(t,
				   &(struct gt_object){.type = what->type,
						       .domain = GT_DOMAIN_REFDEV,
						       .number = e->number,
						       .handle = what->handle,
						       .parent = what->parent},
				   text);
		if (what->type != GT_OBJECT_GRAPH)
			notify_object(what, e->number);
	}
	return there ? there->number : e ? e->number : 0;
}

uint64_t gt_refdev_device(const struct gt_table *table, struct gt_thread *t, int device)
{
	const struct object_entry *e = find_object(GT_OBJECT_DEVICE, (uint64_t)device);
	refdevDeviceProperties p = {.size = sizeof p};
	const struct named_object what = {.type = GT_OBJECT_DEVICE,
					  .key = (uint64_t)device,
					  .handle = (uint64_t)device,
					  .device_handle = (uint64_t)device,
					  .name = p.name};
	struct gt_text text = {0};

	if (e || !t)
		return e ? e->number : 0;
	gt_internal_enter();
	if (!GT_REFDEV_REAL(table, refdevGetDeviceProperties)(&p, device)) {
		gt_text_add(&text, "name", p.name);
		gt_text_add(&text, "vendor", "gputap");
		gt_text_add_hex(&text, "uuid", p.uuid, sizeof p.uuid);
		gt_text_add(&text, "type", "accelerator");
		gt_text_add_number(&text, "hz", p.clock_hz);
	}
	gt_text_add(&text, "clock", "timer");
	gt_internal_leave();
	return number_of_handle(t, &what, &text);
}

uint64_t gt_refdev_stream(const struct gt_table *table, struct gt_thread *t,
			  const refdevActivity *a)
{
	uint64_t key = (uint64_t)a->device << 32 | (uint32_t)a->stream_id;
	const struct object_entry *e = find_object(GT_OBJECT_QUEUE, key);
	struct named_object what = {.type = GT_OBJECT_QUEUE,
				    .key = key,
				    .handle = (uintptr_t)a->stream,
				    .device_handle = (uint64_t)a->device};
	struct gt_text text = {0};
	char name[32];

	if (e || !t)
		return e ? e->number : 0;
	what.parent = gt_refdev_device(table, t, a->device);
	snprintf(name, sizeof name, "stream %d", a->stream_id);
	gt_text_add(&text, "name", name);
	return number_of_handle(t, &what, &text);
}

uint32_t gt_refdev_graph(const struct gt_table *table, struct gt_thread *t, uint64_t graph)
{
	const struct object_entry *e = find_object(GT_OBJECT_GRAPH, graph);
	const struct named_object what = {.type = GT_OBJECT_GRAPH, .key = graph, .handle = graph};
	struct gt_text text = {0};

	if (e || !t)
		return e ? (uint32_t)e->number : 0;
	gt_internal_enter();
	gt_text_add_number(&text, "nodes", GT_REFDEV_REAL(table, refdevGraphNodeCount)(graph));
	gt_internal_leave();
	return (uint32_t)number_of_handle(t, &what, &text);
}

void gt_refdev_read_clock(const struct gt_table *table, struct gt_thread *t, int device)
{
	struct clock_schedule *r = device >= 0 && device < DEVICES ? &readings[device] : NULL;
	uint64_t now, next, pause, before, after, host[2], ticks;

	if (!r || !t)
		return;
	now = gt_clock_ns(CLOCK_MONOTONIC);
	if (gt_unlikely(atomic_load_explicit(&r->epoch, memory_order_relaxed) != t->epoch)) {
		atomic_store_explicit(&r->epoch, t->epoch, memory_order_relaxed);
		atomic_store_explicit(&r->pause_ns, 0, memory_order_relaxed);
		atomic_store_explicit(&r->next_ns, 0, memory_order_relaxed);
	}
	next = atomic_load_explicit(&r->next_ns, memory_order_relaxed);
	if (now < next)
		return;
	pause = atomic_load_explicit(&r->pause_ns, memory_order_relaxed);
	pause = !pause ? FIRST_PAUSE_NS : pause < LAST_PAUSE_NS ? 2 * pause : pause;
	if (!atomic_compare_exchange_strong(&r->next_ns, &next, now + pause))
		return; /* another thread is reading the clock */
	atomic_store_explicit(&r->pause_ns, pause, memory_order_relaxed);
	gt_internal_enter();
	before = gt_ticks();
	if (!GT_REFDEV_REAL(table, refdevReadClock)(device, &host[0], &ticks, &host[1])) {
		after = gt_ticks();
		gt_clock_write(t, (uint32_t)gt_refdev_device(table, t, device),
			       1 /* GT_CLOCK_TIMER */, before, after, ticks, 0);
	}
	gt_internal_leave();
}
