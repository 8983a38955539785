/* SPDX-License-Identifier: MIT */
/* See idle_workers.h. */
#include "analysis/idle/idle_workers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A shorter part is the usual time that a runtime takes to start an activity. Without this limit, a
 * delay while the device was busy would turn all such parts near it into waiting. */
enum { LEAST_NS = 500000 };

struct worker_delay {
	uint64_t start, end;
	uint64_t left; /* delay that no part has used yet, in ns */
	uint32_t process, wait;
};

struct idle_workers {
	struct worker_delay *rows;
	size_t count, room;
	uint64_t longest; /* length of the longest row */
	bool is_sorted;
};

void idle_workers_note(struct idle *s, const struct gt_item *item)
{
	const char *name = gt_capture_string(s->capture, item->process, (uint32_t)item->args[1]);
	struct idle_workers *w;
	char text[80];

	if (!s->workers)
		s->workers = allocate_list(1, sizeof *s->workers);
	w = s->workers;
	snprintf(text, sizeof text, "%.32s%sthread %" PRIu64 "%s", name, *name ? " (" : "",
		 item->args[2], *name ? ")" : "");
	GROW_LIST(w->rows, w->count, w->room);
	w->rows[w->count++] = (struct worker_delay){.start = item->start_ns,
						    .end = item->end_ns,
						    .left = item->args[0],
						    .process = item->process,
						    .wait = texts_put(s->names, text)};
	if (item->end_ns - item->start_ns > w->longest)
		w->longest = item->end_ns - item->start_ns;
	w->is_sorted = false;
}

void idle_workers_fini(struct idle *s)
{
	if (s->workers)
		free(s->workers->rows);
	free(s->workers);
	s->workers = NULL;
}

static int compare_rows(const void *a, const void *b)
{
	const struct worker_delay *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* Return the index of the first row of a process that starts at @start or later. */
static size_t find_first(const struct idle_workers *w, uint32_t process, uint64_t start)
{
	size_t low = 0, high = w->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct worker_delay *row = &w->rows[middle];

		if (row->process < process || (row->process == process && row->start < start))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return true if threads of the process execute the device's activities. */
static bool is_software(const struct idle *s, const struct idle_open *gap)
{
	const uint32_t device = s->origins[gap->row.origin].device_index;
	const struct gt_object_info *object = device < gt_capture_device_count(s->capture)
						      ? gt_capture_device(s->capture, device)
						      : NULL;
	const char *type = object ? gt_object_value(object, "type") : NULL;

	return object && (object->domain == GT_DOMAIN_REFDEV || (type && !strcmp(type, "cpu")));
}

/* Add the part of a row's delay that fits between @from and @to. Return the end of the part. */
static uint64_t add_delay(struct idle *s, struct idle_open *gap, struct worker_delay *row,
			  uint64_t from, uint64_t to, uint32_t name)
{
	const uint64_t ns = to - from < row->left ? to - from : row->left;

	row->left -= ns;
	gap->wait = row->wait;
	idle_add_part(s, gap, from, from + ns, GT_IDLE_HOST_RUNNABLE, 0, name);
	gap->wait = LOOKUP_NONE;
	idle_add_evidence(s, gap, GT_IDLE_HOST_RUNNABLE, &(struct idle_evidence){.delay_ns = ns});
	return from + ns;
}

void idle_workers_add_part(struct idle *s, struct idle_open *gap, uint64_t from, uint64_t to,
			   enum gt_idle_cause cause, uint32_t op, uint32_t name)
{
	const uint32_t process = s->origins[gap->row.origin].process;
	struct idle_workers *w = s->workers;

	if (!w || from >= to || to - from < LEAST_NS || !is_software(s, gap)) {
		idle_add_part(s, gap, from, to, cause, op, name);
		return;
	}
	if (!w->is_sorted)
		qsort(w->rows, w->count, sizeof *w->rows, compare_rows);
	w->is_sorted = true;
	for (size_t i = find_first(w, process, from > w->longest ? from - w->longest : 0);
	     i < w->count && w->rows[i].process == process && w->rows[i].start < to; i++) {
		struct worker_delay *row = &w->rows[i];
		const uint64_t begin = row->start > from ? row->start : from,
			       end = row->end < to ? row->end : to;

		if (begin >= end || !row->left)
			continue;
		idle_add_part(s, gap, from, begin, cause, op, name);
		from = add_delay(s, gap, row, begin, end, name);
	}
	idle_add_part(s, gap, from, to, cause, op, name);
}
