/* SPDX-License-Identifier: MIT */
/* See idle_read.h. idle.h reports parts in any order, but an exporter needs them ordered by device
 * and time. The parts are therefore also sorted in a file. */
#include "analysis/idle/idle_read.h"

#include <stdlib.h>

#include "analysis/idle/idle.h"
#include "analysis/model/view.h"
#include "util/demangle.h"

struct reading {
	struct gt_cursor *cursor;
	struct idle idle;
	struct texts names;
	struct idmap strings; /* process << 32 | string id -> name */
	struct gt_ranges ranges;
	struct sorter parts;
	struct unrecorded unrecorded;
	/* unrecorded time of each device; NULL: everything was recorded */
	struct unrecorded_list *lists;
	uint32_t device_count;
	const struct gt_capture *capture;
	const struct idle_reading *asked;
};

static int compare_parts(const void *a, const void *b)
{
	const struct gt_idle_part *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void keep_part(void *to, const struct gt_idle_part *part)
{
	struct reading *r = to;

	sorter_add(&r->parts, part);
}

static uint32_t name_of(struct reading *r, const struct gt_item *activity)
{
	uint64_t key = (uint64_t)activity->process << 32 | activity->name;
	struct cleanup cleanup;
	const char *text;
	char *readable;
	uint32_t name;

	if (!activity->name)
		return texts_put(&r->names, gt_device_op_name(activity->device_op));
	name = idmap_get(&r->strings, key);
	if (name != LOOKUP_NONE)
		return name;
	text = gt_capture_string(r->capture, activity->process, activity->name);
	readable = r->asked->mangled ? NULL : gt_demangle(text);
	cleanup_push(&cleanup, free, readable);
	name = texts_put(&r->names, readable ? readable : text);
	cleanup_pop(&cleanup);
	idmap_put(&r->strings, key, name);
	return name;
}

static bool is_wanted(const struct reading *r, const struct gt_item *activity)
{
	if (r->asked->wants)
		return r->asked->wants(r->asked->wants_data, activity);
	return gt_capture_wants(r->capture, activity);
}

static void add_activity(struct reading *r, const struct gt_item *item)
{
	const uint64_t number = GT_DEVICE_REF_NUMBER(item->op);
	const struct gt_object_info *object =
		gt_capture_object_find(r->capture, item->process, GT_OBJECT_DEVICE, number);
	const struct gt_device_clock *clock =
		gt_capture_device_clock(r->capture, item->process, number);
	const uint32_t device = object ? object->device_index : UINT32_MAX;
	const struct idle_activity activity = {
		.item = item,
		/* number 0 is for activities whose device is not known */
		.owner = {.device = device == UINT32_MAX ? 0 : device + 1},
		.slack_ns = clock ? gt_device_clock_residual_ns(clock) : 0,
		.device_index = device,
		.name = name_of(r, item),
		.counts = is_wanted(r, item),
		.is_marker = gt_view_activity_class(item->device_op) == GT_ACTIVITY_MARK,
	};

	if (!item->start_ns || item->end_ns < item->start_ns)
		return;
	if (!activity.is_marker)
		unrecorded_note(&r->unrecorded, activity.owner.device, item->process,
				item->start_ns, item->end_ns);
	if (activity.owner.device >= r->device_count)
		r->device_count = activity.owner.device + 1;
	idle_add_activity(&r->idle, &activity);
}

static void find_unrecorded(struct reading *r)
{
	if (!unrecorded_is_possible(r->capture))
		return;
	r->lists = allocate_list(r->device_count, sizeof *r->lists);
	for (uint32_t d = 0; d < r->device_count; d++)
		r->lists[d] = unrecorded_make(&r->unrecorded, r->capture, d, NULL, NULL);
	r->idle.unrecorded = r->lists;
}

static int step(struct reading *r, const struct gt_item *item)
{
	struct gt_range range;
	int status = 0;

	idle_note(&r->idle, item);
	if (item->kind == GT_RECORD_DEVICE) {
		add_activity(r, item);
	} else if (item->kind == GT_RECORD_CALL && gt_mark_of(item->op)) {
		status = gt_ranges_step(&r->ranges, item, &range);
		if (status > 0)
			idle_add_range(&r->idle, &range, texts_put(&r->names, range.name));
	}
	return status < 0 ? status : 0;
}

static int read_capture(struct reading *r)
{
	const struct gt_item *item;
	struct gt_range range;
	int status = gt_cursor_create(r->capture, &r->cursor);

	if (status)
		return status;
	gt_cursor_take_all(r->cursor);
	gt_cursor_take_host(r->cursor);
	while ((status = gt_cursor_next(r->cursor, &item)) == 1)
		if ((status = step(r, item)))
			break;
	while (!status && gt_ranges_rest(&r->ranges, &range))
		idle_add_range(&r->idle, &range, texts_put(&r->names, range.name));
	gt_cursor_destroy(r->cursor);
	r->cursor = NULL;
	return status;
}

/* Return true if the capture contains GPU activities. If the capture's counts show none, search the
 * records. */
static bool may_have_activity(const struct gt_capture *capture)
{
	if (!gt_capture_is_whole(gt_capture_health(capture)))
		return true;
	for (uint32_t i = 0; i < gt_capture_process_count(capture); i++) {
		const struct gt_counts *counts = gt_capture_counts(capture, i);

		for (unsigned d = 0; counts && d < GT_DOMAIN_COUNT; d++)
			if (counts->recorded[GT_CLASS_DEVICE][d])
				return true;
	}
	return false;
}

static void fini_reading(void *data)
{
	struct reading *r = data;

	gt_cursor_destroy(r->cursor);
	idle_fini(&r->idle);
	for (uint32_t d = 0; r->lists && d < r->device_count; d++)
		unrecorded_list_fini(&r->lists[d]);
	free(r->lists);
	unrecorded_fini(&r->unrecorded);
	sorter_fini(&r->parts);
	gt_ranges_fini(&r->ranges);
	idmap_fini(&r->strings);
	texts_fini(&r->names);
}

int idle_read(const struct idle_reading *reading)
{
	const struct gt_capture *capture = reading->capture;
	struct reading r = {.capture = capture,
			    .asked = reading,
			    .parts = {.row_bytes = sizeof(struct gt_idle_part),
				      .compare = compare_parts,
				      .packed_most = reading->packed_most}};
	struct cleanup cleanup;
	const void *part;
	int status;

	if (!may_have_activity(capture))
		return 0;
	cleanup_push(&cleanup, fini_reading, &r);
	r.idle.capture = capture;
	r.idle.names = &r.names;
	r.idle.each = keep_part;
	r.idle.to = &r;
	r.idle.tells_all = reading->all;
	r.idle.packed_most = reading->packed_most;
	idle_init(&r.idle);
	status = read_capture(&r);
	find_unrecorded(&r);
	status = status ? status : idle_finish(&r.idle);
	while (!status && (status = sorter_next(&r.parts, &part)) > 0) {
		reading->each(reading->to, part);
		status = 0;
	}
	cleanup_pop(&cleanup);
	return status;
}
