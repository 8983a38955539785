/* SPDX-License-Identifier: MIT */
/* Converts a record to small numbers (name, device, process, thread, queue, ranges), and returns
 * the texts of these numbers to the filter. */
#include "analysis/tables/summary_steps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/demangle.h"

/* Names for output and filters -------------------------------------------------- */

static unsigned range_texts(const struct summary *s, uint32_t set, const char **texts)
{
	uint32_t names[FILTER_TEXTS_MOST];
	unsigned count = range_paths_names(&s->range_paths, set, names, FILTER_TEXTS_MOST);

	for (unsigned i = 0; i < count; i++)
		texts[i] = texts_get(&s->names, names[i]);
	return count;
}

unsigned summary_texts(void *data, enum filter_field field, uint32_t number, const char **texts)
{
	static _Thread_local char digits[32];
	struct summary *s = data;

	switch (field) {
	case FILTER_NAME: texts[0] = texts_get(&s->names, number); return 1;
	case FILTER_DOMAIN:
		texts[0] = gt_domain_name((enum gt_domain)number);
		texts[1] = gt_domain_traits[number].family;
		return *texts[1] ? 2 : 1;
	case FILTER_KIND:
		texts[0] = number < SUMMARY_KIND_DEVICE
				   ? gt_operation_kind_name((enum gt_operation_kind)number)
				   : gt_device_op_name(
					     (enum gt_device_op)(number - SUMMARY_KIND_DEVICE));
		return 1;
	case FILTER_DEVICE:
		snprintf(digits, sizeof digits, "%" PRIu32, number);
		texts[0] = digits;
		texts[1] = s->devices[number].name;
		return 2;
	case FILTER_PROCESS:
		snprintf(digits, sizeof digits, "%" PRIu32, s->processes[number].pid);
		texts[0] = digits;
		texts[1] = s->processes[number].name;
		texts[2] = s->processes[number].exe;
		return 3;
	case FILTER_THREAD:
		snprintf(digits, sizeof digits, "%" PRIu32, s->threads[number].tid);
		texts[0] = digits;
		texts[1] = s->threads[number].name;
		return 2;
	case FILTER_QUEUE:
		snprintf(digits, sizeof digits, "%" PRIu32, s->queues[number].ordinal);
		texts[0] = digits;
		return 1;
	case FILTER_RANGE: return range_texts(s, number, texts);
	case FILTER_HOST: texts[0] = s->files[number].host; return 1;
	default: return 0;
	}
}

/* Conversion to numbers ---------------------------------------------------------- */

static uint32_t operation_name(struct summary_reading *r, uint32_t op)
{
	uint32_t name = idmap_get(&r->operations, op);

	if (name == LOOKUP_NONE) {
		name = summary_intern(r->s, gt_operation_name(op));
		idmap_put(&r->operations, op, name);
	}
	return name;
}

static uint32_t kernel_name(struct summary_reading *r, const struct gt_item *item)
{
	uint64_t key = (uint64_t)item->process << 32 | item->name;
	uint32_t name = idmap_get(&r->strings, key);
	const char *text;
	char *readable;

	if (name == LOOKUP_NONE) {
		text = item->name ? gt_capture_string(r->capture, item->process, item->name) : "";
		readable = r->s->mangled ? NULL : gt_demangle(text);
		name = summary_intern(r->s, readable ? readable : *text ? text : "(no name)");
		free(readable);
		idmap_put(&r->strings, key, name);
	}
	return name;
}

/* Name a memcpy by its direction, or a memset. CUDA names also contain the kinds of memory. */
static uint32_t copy_name(struct summary_reading *r, const struct gt_item *item, uint32_t direction)
{
	uint32_t name = item->name ? kernel_name(r, item) : direction;

	return strncmp(texts_get(&r->s->names, name), "Mem", 3) == 0 ? name : direction;
}

uint32_t summary_add_thread(struct summary_reading *r, uint32_t process, uint32_t ordinal)
{
	const struct gt_host_clock_map *clock = gt_capture_process_clock(r->capture, process);
	const struct gt_thread_info *info = gt_capture_thread_find(r->capture, process, ordinal);
	struct summary *s = r->s;
	struct summary_thread *t;

	GROW_LIST(s->threads, s->thread_count, s->thread_room);
	t = &s->threads[s->thread_count];
	t->process = process;
	t->ordinal = ordinal;
	if (info) {
		t->tid = info->tid;
		t->name = texts_get(&s->names, summary_intern(s, info->name ? info->name : ""));
		t->start_ns = clock && info->start_ticks
				      ? gt_host_clock_to_ns(clock, info->start_ticks)
				      : 0;
		t->end_ns =
			clock && info->end_ticks ? gt_host_clock_to_ns(clock, info->end_ticks) : 0;
	} else {
		t->name = texts_get(&s->names, summary_intern(s, ""));
	}
	s->processes[t->process].threads++;
	s->files[s->processes[process].file].threads++;
	return s->thread_count++;
}

static uint32_t thread_of(struct summary_reading *r, uint32_t process, uint32_t ordinal)
{
	uint64_t key = (uint64_t)process << 32 | ordinal;
	uint32_t thread;

	if (key == r->last_thread_key && r->last_thread != LOOKUP_NONE)
		return r->last_thread;
	thread = idmap_get(&r->threads, key);
	if (thread == LOOKUP_NONE) {
		thread = summary_add_thread(r, process, ordinal);
		idmap_put(&r->threads, key, thread);
	}
	r->last_thread_key = key;
	r->last_thread = thread;
	return thread;
}

/* Add a device. The device gets its number in the capture, as in `gputap info` and in exports. If
 * the capture does not contain the device, it gets the next number. */
static uint32_t add_device(struct summary_reading *r, const struct gt_object_info *object,
			   enum gt_domain domain)
{
	struct summary *s = r->s;
	const uint32_t number =
		object ? object->device_index : (uint32_t)gt_capture_device_count(r->capture);
	const char *name = object ? gt_object_called(object) : NULL;
	struct summary_device *d;

	if (number >= s->device_count) {
		s->devices =
			resize_list(s->devices, s->device_count, number + 1, sizeof *s->devices);
		s->device_count = number + 1;
	}
	d = &s->devices[number];
	if (d->name)
		return number;
	d->name_id = summary_intern(s, name && *name ? name : "unknown device");
	d->name = texts_get(&s->names, d->name_id);
	d->domain = domain;
	return number;
}

static uint32_t device_of(struct summary_reading *r, const struct gt_item *item)
{
	uint64_t key = (uint64_t)item->process << 32 | item->op;
	uint32_t device = idmap_get(&r->devices, key);
	const struct gt_object_info *object;

	if (device != LOOKUP_NONE)
		return device;
	object = gt_capture_object_find(r->capture, item->process, GT_OBJECT_DEVICE,
					GT_DEVICE_REF_NUMBER(item->op));
	if (object)
		object = gt_capture_device(r->capture, object->device_index);
	device = add_device(r, object, (enum gt_domain)GT_OP_DOMAIN(item->op));
	idmap_put(&r->devices, key, device);
	return device;
}

static void number_device(void *reading, uint32_t process, uint32_t ref)
{
	const struct gt_item activity = {.process = process, .op = ref};

	device_of(reading, &activity);
}

void summary_number_devices(struct summary_reading *r)
{
	if (r->s->scope.some || r->s->scope.of_processes)
		gt_capture_each_device(r->capture, number_device, r);
}

static uint32_t queue_of(struct summary_reading *r, const struct gt_item *item, uint32_t device)
{
	uint64_t key = (uint64_t)(uintptr_t)item->queue;
	struct summary *s = r->s;
	uint32_t queue;

	if (!item->queue)
		return LOOKUP_NONE;
	queue = idmap_get(&r->queues, key);
	if (queue != LOOKUP_NONE)
		return queue;
	GROW_LIST(s->queues, s->queue_count, s->queue_room);
	queue = s->queue_count++;
	s->queues[queue] = (struct summary_queue){.device = device,
						  .process = item->process,
						  .ordinal = item->queue->ordinal,
						  .handle = item->queue->handle,
						  .domain = item->queue->domain};
	idmap_put(&r->queues, key, queue);
	return queue;
}

static bool matches_filter(struct summary *s, const struct summary_entry *e, uint32_t kind)
{
	const struct filter_record record = {
		.text = {e->name, e->domain, kind, e->device, e->process, e->thread, e->queue,
			 e->ranges, s->processes[e->process].file},
		.duration_ns = e->duration_ns,
		.bytes = e->item->bytes,
		.at_ns = e->at_ns,
		.rank = (int32_t)s->processes[e->process].rank, /* LOOKUP_NONE is -1 */
		.timed = e->timed,
		.sized = e->class == SUMMARY_COPIES,
		.failed = e->failed,
	};

	return filter_match(s->filter, &record);
}

bool summary_matches(struct summary *s, const struct summary_entry *e, uint32_t kind)
{
	return !(e->item->context & GT_CONTEXT_ROW) && (!s->filter || matches_filter(s, e, kind));
}

struct summary_entry summary_entry_of_call(struct summary_reading *r, const struct gt_item *item)
{
	const struct gt_operation_info *info = gt_operation(item->op);
	struct summary_entry e = {
		.kind = info ? (enum gt_operation_kind)info->kind : GT_KIND_OTHER,
		.item = item,
		.class = SUMMARY_CALLS,
		.domain = GT_OP_DOMAIN(item->op),
		.device = LOOKUP_NONE,
		.queue = LOOKUP_NONE,
		.process = item->process,
		.duration_ns = item->end_ns > item->start_ns ? item->end_ns - item->start_ns : 0,
		.at_ns = item->start_ns,
		.timed = true,
	};

	e.name = operation_name(r, item->op);
	e.thread = thread_of(r, item->process, item->ordinal);
	e.ranges =
		range_paths_find(&r->s->range_paths, summary_place_key(item), gt_item_place(item));
	e.failed = gt_call_status(item->op, item->ret, item->args, &e.status) &&
		   gt_status_failed((enum gt_domain)e.domain, e.status);
	e.refused = e.failed && gt_status_refused((enum gt_domain)e.domain, e.status);
	e.failed &= !e.refused;
	return e;
}

static uint32_t intern_words(struct summary *s, const struct gt_range_words *words)
{
	char text[256];

	if (!words->text || !words->bytes)
		return LOOKUP_NONE;
	snprintf(text, sizeof text, "%.*s", (int)(words->bytes < 255 ? words->bytes : 255),
		 words->text);
	return summary_intern(s, text);
}

struct summary_entry summary_entry_of_range(struct summary_reading *r, const struct gt_range *range,
					    uint64_t id)
{
	static const struct gt_item item = {.kind = GT_RECORD_CALL};
	struct summary_entry e = {
		.kind = GT_KIND_MARKER,
		.item = &item,
		.class = SUMMARY_RANGES,
		.domain = GT_OP_DOMAIN(range->op),
		.device = LOOKUP_NONE,
		.queue = LOOKUP_NONE,
		.process = range->process,
		.duration_ns = range->end_ns - range->start_ns,
		.at_ns = range->start_ns,
		.timed = !range->instant,
	};

	e.name = summary_intern(r->s, range->name);
	e.scope = intern_words(r->s, &range->detail.scope);
	e.category = intern_words(r->s, &range->detail.category);
	e.thread = thread_of(r, range->process, range->ordinal);
	e.ranges = range_paths_find(&r->s->range_paths,
				    summary_thread_key(range->process, range->ordinal), id);
	return e;
}

static enum summary_class device_class(enum gt_device_op op)
{
	switch (op) {
	case GT_DEVICE_KERNEL:
	case GT_DEVICE_NATIVE: return SUMMARY_KERNELS;
	case GT_DEVICE_READ:
	case GT_DEVICE_WRITE:
	case GT_DEVICE_COPY:
	case GT_DEVICE_FILL:
	case GT_DEVICE_MAP:
	case GT_DEVICE_UNMAP:
	case GT_DEVICE_MIGRATE: return SUMMARY_COPIES;
	default: return SUMMARY_OTHER;
	}
}

struct summary_entry summary_entry_of_activity(struct summary_reading *r,
					       const struct gt_item *item)
{
	struct summary *s = r->s;
	struct summary_entry e = {
		.item = item,
		.class = device_class(item->device_op),
		.domain = GT_OP_DOMAIN(item->op),
		.process = item->process,
		.thread = LOOKUP_NONE,
		.status = item->status,
		.failed = item->status < 0,
		.timed = item->start_ns && item->end_ns >= item->start_ns,
		.at_ns = item->start_ns ? item->start_ns : item->call_start_ns,
	};

	e.duration_ns = e.timed ? item->end_ns - item->start_ns : 0;
	e.brief = item->device_op == GT_DEVICE_KERNEL ||
				  (item->device_op == GT_DEVICE_SCRATCH && item->name)
			  ? kernel_name(r, item)
			  : summary_intern(s, gt_device_op_name(item->device_op));
	e.name = e.class == SUMMARY_COPIES ? copy_name(r, item, e.brief) : e.brief;
	e.device = device_of(r, item);
	e.queue = queue_of(r, item, e.device);
	if (item->id)
		e.thread = thread_of(r, item->process, GT_ID_ORDINAL(item->id));
	e.ranges = range_paths_find(&s->range_paths, summary_place_key(item), gt_item_place(item));
	return e;
}
