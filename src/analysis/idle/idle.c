/* SPDX-License-Identifier: MIT */
/* See idle.h. This file handles the activities in order of their start, and the gaps between
 * them. */
#include "analysis/idle/idle.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/idle/idle_samples.h"
#include "analysis/idle/idle_steps.h"
#include "analysis/idle/idle_workers.h"
#include "record/operation.h"

struct idle_device {
	uint64_t end; /* latest end of the activities so far */
	uint32_t origin;
	bool any;
};

/* Rows ---------------------------------------------------------------------------- */

static int compare_activity(const void *a, const void *b)
{
	const struct idle_start *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->tag > y->tag) - (x->tag < y->tag);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct idle_range_row *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static int compare_gaps(const void *a, const void *b)
{
	const struct idle_gap_row *x = a, *y = b;
	uint64_t from = idle_gap_from(x), other = idle_gap_from(y);

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (from != other)
		return from < other ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->origin > y->origin) - (x->origin < y->origin);
}

void idle_init(struct idle *s)
{
	s->last_origin = s->last_row = s->last_pair = s->last_site = LOOKUP_NONE;
	for (unsigned i = 0; i < IDLE_LAST_DETAILS; i++)
		s->last_details[i] = LOOKUP_NONE;
	s->activity = (struct sorter){.row_bytes = sizeof(struct idle_start),
				      .compare = compare_activity,
				      .packed_most = s->packed_most};
	s->ranges = (struct sorter){.row_bytes = sizeof(struct idle_range_row),
				    .compare = compare_ranges,
				    .packed_most = s->packed_most};
	s->gaps = (struct sorter){.row_bytes = sizeof(struct idle_gap_row),
				  .compare = compare_gaps,
				  .packed_most = s->packed_most};
	for (unsigned d = 1; d < GT_DOMAIN_COUNT; d++) {
		size_t count = gt_operation_count((enum gt_domain)d);

		s->operations[d] = allocate_list(count, sizeof *s->operations[d]);
		for (size_t n = 0; n < count; n++)
			s->operations[d][n] = idle_describe_operation(GT_OP(d, n, 0));
		s->operation_counts[d] = (uint32_t)count;
	}
}

void idle_note_thread(struct idle *s, const struct gt_item *item)
{
	uint64_t key = (uint64_t)item->process << 32 | item->ordinal;

	s->last_thread = key + 1;
	if (idmap_get(&s->threads, key) == LOOKUP_NONE)
		idmap_put(&s->threads, key, s->thread_count++);
}

void idle_note_hold(struct idle *s, const struct gt_item *call)
{
	enum idle_hold how;

	if (!s->held && idle_call_holds(call, &how))
		s->held = idle_blocked_create();
}

void idle_note_state(struct idle *s, const struct gt_item *item)
{
	const uint32_t thread =
		idmap_get(&s->threads, (uint64_t)item->process << 32 | item->ordinal);

	if (item->push == GT_HOST_SAMPLE) {
		if (!s->samples)
			s->samples = idle_samples_create(s->packed_most);
		idle_samples_add(s->samples, item, thread);
		return;
	}
	if (item->push == GT_HOST_WORKERS) {
		idle_workers_note(s, item);
		return;
	}
	if (!s->states)
		s->states = idle_states_create(s->capture, s->names, s->packed_most);
	idle_states_add(s->states, item, thread);
}

static bool is_origin(const struct idle *s, uint32_t number, const struct idle_origin *origin)
{
	return number != LOOKUP_NONE && !memcmp(&s->origins[number], origin, sizeof *origin);
}

static uint32_t find_origin(struct idle *s, const struct idle_origin *origin)
{
	uint64_t hash = lookup_mix((uint64_t)origin->row << 32 | origin->process);
	uint32_t i;

	if (is_origin(s, s->last_origin, origin))
		return s->last_origin;
	hash = lookup_mix(hash + ((uint64_t)origin->device << 32 | origin->name));
	hash += origin->slack_ns;
	for (; (i = idmap_get(&s->origin_numbers, hash)) != LOOKUP_NONE; hash++)
		if (is_origin(s, i, origin))
			return s->last_origin = i;
	GROW_LIST(s->origins, s->origin_count, s->origin_room);
	s->origins[s->origin_count] = *origin;
	idmap_put(&s->origin_numbers, hash, s->origin_count);
	return s->last_origin = s->origin_count++;
}

uint32_t idle_tag(struct idle *s, const struct idle_activity *activity)
{
	const struct idle_origin origin = {
		.slack_ns = activity->slack_ns,
		.row = activity->counts && !activity->is_marker ? idle_find_row(s, &activity->owner)
								: LOOKUP_NONE,
		.device = activity->owner.device,
		.device_index = activity->device_index,
		.process = activity->item->process,
		.is_marker = activity->is_marker,
		.name = activity->name,
	};

	return find_origin(s, &origin);
}

void idle_add_activity(struct idle *s, const struct idle_activity *activity)
{
	const struct gt_item *item = activity->item;
	const struct idle_start row = {
		.start = item->start_ns,
		.end = item->end_ns,
		.id = item->id,
		.call_start = item->call_start_ns,
		.submitted = item->submitted_ns,
		.tag = idle_tag(s, activity),
	};

	sorter_add(&s->activity, &row);
}

void idle_add_range(struct idle *s, const struct gt_range *range, uint32_t name)
{
	const struct idle_range_row row = {
		.start = range->start_ns,
		.end = range->end_ns,
		.thread = idmap_get(&s->threads, (uint64_t)range->process << 32 | range->ordinal),
		.name = name,
	};

	if (!range->instant && row.thread != LOOKUP_NONE)
		sorter_add(&s->ranges, &row);
}

/* The gaps ------------------------------------------------------------------------ */

static void keep_gap(struct idle *s, const struct idle_gap_row *gap, uint64_t idle_ns)
{
	const struct idle_origin *origin = &s->origins[gap->origin];
	struct idle_gap *first = s->largest + (size_t)origin->device * IDLE_LARGEST;
	unsigned i = IDLE_LARGEST;

	if (idle_ns <= first[i - 1].idle_ns)
		return;
	for (i--; i && idle_ns > first[i - 1].idle_ns; i--)
		first[i] = first[i - 1];
	first[i] = (struct idle_gap){.start_ns = gap->start,
				     .end_ns = gap->end,
				     .idle_ns = idle_ns,
				     .device = origin->device,
				     .process = origin->process,
				     .ordinal = GT_ID_ORDINAL(gap->id)};
}

/* Return the position, in the order of records, of the thread that made the call. */
static uint32_t find_caller(struct idle *s, uint32_t process, uint64_t id)
{
	uint64_t key = (uint64_t)process << 32 | GT_ID_ORDINAL(id);

	if (!id)
		return LOOKUP_NONE;
	if (key + 1 != s->last_caller_key) {
		s->last_caller_key = key + 1;
		s->last_caller = idmap_get(&s->threads, key);
	}
	return s->last_caller;
}

/* Add a gap between two activities of a device: from the end of the previous activity to the start
 * of the current one. */
static void add_gap(struct idle *s, const struct idle_device *device,
		    const struct idle_start *activity)
{
	const struct idle_origin *origin = &s->origins[activity->tag];
	const struct idle_gap_row row = {
		.start = device->end,
		.end = activity->start,
		.id = activity->id,
		.call_start = activity->call_start,
		.submitted = activity->submitted,
		.thread = find_caller(s, origin->process, activity->id),
		.origin = activity->tag,
		.after = device->origin,
	};
	const uint64_t unrecorded =
		unrecorded_ns(idle_unrecorded(s, origin->device), row.start, row.end);
	const uint64_t idle_ns = row.end - row.start - unrecorded;
	uint32_t number;

	if (origin->row == LOOKUP_NONE)
		return;
	s->unrecorded_ns[origin->device] += unrecorded;
	if (!idle_ns) {
		idle_add_whole(s, &row, GT_IDLE_UNRECORDED);
		return;
	}
	number = idle_find_gap_row(s, &row);
	idle_add_sum(&s->rows[number].all, idle_ns);
	keep_gap(s, &row, idle_ns);
	if (idle_ns <= origin->slack_ns) {
		idle_add_whole(s, &row, GT_IDLE_SHORT);
		return;
	}
	s->gap_count++;
	sorter_add(&s->gaps, &row);
}

static struct idle_device *device_at(struct idle *s, uint32_t device)
{
	if (device >= s->device_count) {
		size_t old = (size_t)s->device_count * IDLE_LARGEST,
		       count = ((size_t)device + 1) * IDLE_LARGEST;

		s->devices =
			resize_list(s->devices, s->device_count, device + 1, sizeof *s->devices);
		s->largest = resize_list(s->largest, old, count, sizeof *s->largest);
		s->unrecorded_ns = resize_list(s->unrecorded_ns, s->device_count, device + 1,
					       sizeof *s->unrecorded_ns);
		s->device_count = device + 1;
	}
	return &s->devices[device];
}

void idle_step(struct idle *s, const struct idle_start *activity)
{
	const struct idle_origin *origin = &s->origins[activity->tag];
	struct idle_device *d = device_at(s, origin->device);

	if (s->held && activity->id)
		idle_blocked_add_activity(s->held, origin->process, activity->id, activity->end,
					  origin->name);
	if (origin->is_marker)
		return;
	if (d->any && activity->start > d->end)
		add_gap(s, d, activity);
	if (!d->any || activity->end > d->end) {
		d->end = activity->end;
		d->origin = activity->tag;
	}
	d->any = true;
}

static int step_activity(struct idle *s)
{
	const void *next;
	int rc;

	while ((rc = sorter_next(&s->activity, &next)) > 0)
		idle_step(s, next);
	sorter_fini(&s->activity);
	return rc;
}

int idle_finish(struct idle *s)
{
	int rc = step_activity(s);

	if (!rc && s->gap_count)
		rc = idle_walk_host(s);
	if (!rc && s->gap_count && s->held)
		rc = idle_blocked_finish(s);
	return rc;
}

void idle_fini(struct idle *s)
{
	sorter_fini(&s->activity);
	sorter_fini(&s->ranges);
	sorter_fini(&s->gaps);
	idle_blocked_destroy(s->held);
	free(s->rows);
	free(s->details);
	free(s->largest);
	free(s->origins);
	free(s->devices);
	free(s->unrecorded_ns);
	idle_fini_paused(s);
	idle_states_destroy(s->states);
	idle_lines_fini(s);
	idle_workers_fini(s);
	idle_pairs_fini(s);
	idmap_fini(&s->row_numbers);
	idmap_fini(&s->detail_numbers);
	idmap_fini(&s->threads);
	idmap_fini(&s->origin_numbers);
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
		free(s->operations[d]);
	*s = (struct idle){0};
}
