/* SPDX-License-Identifier: MIT */
/* See depend.h. Finds the ranges of the program whose lengths are asked for, and the parts of their
 * threads' time in which they start and end. */
#include <fnmatch.h>
#include <stdlib.h>

#include "analysis/depend/depend_parts.h"

static void add_range(struct depend *d, const struct gt_range *range)
{
	struct depend_range *r;

	if (range->instant || range->context || range->end_ns <= range->start_ns ||
	    fnmatch(d->range, range->name, 0))
		return;
	GROW_LIST(d->ranges, d->range_count, d->reading->range_room);
	r = &d->ranges[d->range_count++];
	*r = (struct depend_range){.start = range->start_ns,
				   .end = range->end_ns,
				   .process = range->process,
				   .ordinal = range->ordinal};
}

int depend_note_mark(struct depend *d, const struct gt_item *call)
{
	struct gt_range range;
	int status = d->range ? gt_ranges_step(&d->reading->ranges, call, &range) : 0;

	if (status > 0)
		add_range(d, &range);
	return status < 0 ? status : 0;
}

struct depend_thread_nodes depend_list_nodes(const struct depend *d)
{
	struct depend_thread_nodes l = {
		.first = allocate_scratch(d->thread_count + 2, sizeof *l.first),
		.list = allocate_scratch(d->node_count + 1, sizeof *l.list),
	};

	for (size_t i = 0; i < d->node_count; i++)
		if (d->nodes[i].type != DEPEND_IS_ACTIVITY)
			l.first[d->nodes[i].owner + 2]++;
	for (size_t t = 2; t < d->thread_count + 2; t++)
		l.first[t] += l.first[t - 1];
	/* first[t + 1] is where the next node of thread t goes, and then the first of t + 1 */
	for (size_t i = 0; i < d->node_count; i++)
		if (d->nodes[i].type != DEPEND_IS_ACTIVITY)
			l.list[l.first[d->nodes[i].owner + 1]++] = (uint32_t)i;
	return l;
}

uint32_t depend_position(const struct depend *d, const struct depend_thread_nodes *l,
			 uint32_t thread, uint64_t time)
{
	size_t low = l->first[thread], high = l->first[thread + 1];

	if (low == high)
		return LOOKUP_NONE;
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (d->nodes[l->list[middle]].start <= time)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)low;
}

static uint32_t find_node(const struct depend *d, const struct depend_thread_nodes *l,
			  uint32_t thread, uint64_t time)
{
	const uint32_t at = depend_position(d, l, thread, time);

	return at == LOOKUP_NONE ? LOOKUP_NONE : l->list[at];
}

static uint32_t find_thread(const struct depend *d, uint32_t process, uint32_t ordinal)
{
	for (size_t t = 0; t < d->thread_count; t++)
		if (d->threads[t].process == process && d->threads[t].ordinal == ordinal)
			return (uint32_t)t;
	return LOOKUP_NONE;
}

void depend_place_ranges(struct depend *d)
{
	struct depend_thread_nodes l;
	struct gt_range range;
	size_t kept = 0;

	if (!d->range)
		return;
	while (gt_ranges_rest(&d->reading->ranges, &range))
		add_range(d, &range);
	l = depend_list_nodes(d);
	for (size_t i = 0; i < d->range_count; i++) {
		struct depend_range r = d->ranges[i];
		const uint32_t thread = find_thread(d, r.process, r.ordinal);

		if (thread == LOOKUP_NONE)
			continue;
		r.first = find_node(d, &l, thread, r.start);
		r.last = find_node(d, &l, thread, r.end);
		if (r.first != LOOKUP_NONE)
			d->ranges[kept++] = r;
	}
	d->range_count = kept;
	free_scratch(l.first);
	free_scratch(l.list);
}
