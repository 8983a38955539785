/* SPDX-License-Identifier: MIT */
/* See activity_values.h. */
#include "dataset/activity_values.h"

#include <stdlib.h>

#include "analysis/base/guard_memory.h"
#include "util/demangle.h"

int activity_values_init(struct activity_values *v, struct reader *r)
{
	v->caller.number = -2;
	return gt_view_init(&v->view, r->dataset->capture, NULL);
}

void activity_values_fini(struct activity_values *v)
{
	gt_view_fini(&v->view);
	idmap_fini(&v->names);
}

const struct thread_number *activity_caller(struct activity_values *v, struct reader *r,
					    const struct thread_number *writer,
					    const struct gt_item *activity)
{
	const uint32_t ordinal = GT_ID_ORDINAL(activity->id);

	if (!activity->id || ordinal == writer->ordinal)
		return writer;
	if (v->caller.number == -2 || v->caller.process != activity->process ||
	    v->caller.ordinal != ordinal)
		v->caller = dataset_find_thread(r->dataset, activity->process, ordinal);
	return &v->caller;
}

static int32_t find_name(struct activity_values *v, struct reader *r,
			 const struct gt_item *activity, uint64_t key)
{
	const uint32_t found = idmap_get(&v->names, key);
	const char *text;
	char *readable;
	int32_t number;

	if (found != LOOKUP_NONE)
		return (int32_t)found;
	text = gt_capture_string(r->dataset->capture, activity->process, activity->name);
	text = *text ? text : "(name not recorded)";
	readable = gt_demangle(text);
	number = reader_text(r, DICTIONARY_NAME, readable ? readable : text);
	free(readable);
	idmap_put(&v->names, key, (uint32_t)number);
	return number;
}

int32_t activity_name(struct activity_values *v, struct reader *r, const struct gt_item *activity)
{
	const uint64_t key = (uint64_t)activity->process << 32 | activity->name;

	if (!activity->name)
		return -1;
	if (key != v->last_name) {
		v->last_text = find_name(v, r, activity, key);
		v->last_name = key;
	}
	return v->last_text;
}

static inline int32_t device_number(uint32_t device)
{
	return device == UINT32_MAX ? -1 : (int32_t)device;
}

struct activity_place activity_place(struct activity_values *v, const struct reader *r,
				     const struct gt_item *activity)
{
	const struct gt_view_queue *q = gt_view_queue(&v->view, activity);
	struct activity_place place = {-1, -1, -1, -1};
	struct gt_view_ends ends;

	if (!q)
		memory_ran_out();
	place.device = device_number(q->device);
	if (q->object)
		place.queue = r->dataset->queue_numbers[q->object -
							gt_capture_object(r->dataset->capture, 0)];
	if (activity->device_op == GT_DEVICE_COPY && gt_item_endpoints(activity)) {
		ends = gt_view_ends(&v->view, activity, q);
		place.source = device_number(ends.from);
		place.target = device_number(ends.to);
	}
	return place;
}
