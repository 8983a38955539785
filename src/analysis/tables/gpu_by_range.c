/* SPDX-License-Identifier: MIT */
/* See gpu_by_range.h. */
#include "analysis/tables/gpu_by_range.h"

#include <stdlib.h>

/* An activity or a range. A range sorts before the activities in it. */
struct operator_row {
	uint64_t thread, id;
	uint64_t last; /* range: number of the last call in it; activity: 0 */
	uint64_t duration_ns;
	uint64_t name;
};

/* Flag in the name of a range that only encloses activities. */
#define ONLY_AROUND (UINT64_C(1) << 32)

struct open_operators {
	uint64_t thread;
	struct {
		uint64_t last;
		uint32_t row;
	} * open;
	uint32_t depth, room;
};

static int compare_operators(const void *a, const void *b)
{
	const struct operator_row *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->last != y->last)
		return x->last > y->last ? -1 : 1;
	return (x->duration_ns > y->duration_ns) - (x->duration_ns < y->duration_ns);
}

static void add_row(struct gpu_by_range *o, const struct operator_row *row)
{
	o->sorter.row_bytes = sizeof *row;
	o->sorter.compare = compare_operators;
	sorter_add(&o->sorter, row);
}

void gpu_by_range_range(struct gpu_by_range *o, const struct gpu_by_range_range *range)
{
	const struct operator_row row = {range->thread, range->first, range->last,
					 range->duration_ns,
					 range->name | (range->counts ? 0 : ONLY_AROUND)};

	if (range->last >= range->first && range->first)
		add_row(o, &row);
}

static uint32_t find_row(struct gpu_by_range *o, uint32_t name)
{
	uint32_t row = idmap_get(&o->by_name, name);

	if (row != LOOKUP_NONE)
		return row;
	GROW_LIST(o->rows, o->count, o->room);
	o->rows[o->count].name = name;
	idmap_put(&o->by_name, name, o->count);
	return o->count++;
}

static void open_range(struct gpu_by_range *o, struct open_operators *r,
		       const struct operator_row *row)
{
	GROW_LIST(r->open, r->depth, r->room);
	r->open[r->depth].last = row->last;
	r->open[r->depth].row = find_row(o, (uint32_t)row->name);
	if (!(row->name & ONLY_AROUND)) {
		o->rows[r->open[r->depth].row].count++;
		o->rows[r->open[r->depth].row].host_ns += row->duration_ns;
	}
	r->depth++;
}

static void count_activity(struct gpu_by_range *o, const struct open_operators *r,
			   const struct operator_row *row)
{
	uint32_t innermost = r->depth ? r->open[r->depth - 1].row : find_row(o, LOOKUP_NONE);
	struct gpu_by_range_row *self = &o->rows[innermost];

	self->activity++;
	self->self_ns += row->duration_ns;
	if (!r->depth) {
		self->all_activity++;
		self->all_ns += row->duration_ns;
		return;
	}
	o->activity++;
	if (o->each)
		o->each(o->each_data, self->name, row->duration_ns);
	for (uint32_t i = 0; i < r->depth; i++) {
		struct gpu_by_range_row *outer = &o->rows[r->open[i].row];
		uint32_t again = 0;

		while (again < i && r->open[again].row != r->open[i].row)
			again++;
		if (again < i)
			continue; /* a recursive range is counted once */
		outer->all_activity++;
		outer->all_ns += row->duration_ns;
	}
}

void gpu_by_range_activity(struct gpu_by_range *o, uint64_t thread, uint64_t id,
			   uint64_t duration_ns)
{
	const struct open_operators none = {0};
	const struct operator_row row = {thread, id, 0, duration_ns, 0};

	if (o->no_ranges)
		count_activity(o, &none, &row);
	else
		add_row(o, &row);
}

int gpu_by_range_finish(struct gpu_by_range *o)
{
	struct open_operators r = {0};
	const void *next;
	int rc = 0;

	while (o->sorter.row_bytes && (rc = sorter_next(&o->sorter, &next)) == 1) {
		const struct operator_row *row = next;

		if (row->thread != r.thread)
			r.depth = 0;
		r.thread = row->thread;
		while (r.depth && r.open[r.depth - 1].last < row->id)
			r.depth--;
		if (row->last)
			open_range(o, &r, row);
		else
			count_activity(o, &r, row);
	}
	free(r.open);
	return rc;
}

void gpu_by_range_fini(struct gpu_by_range *o)
{
	sorter_fini(&o->sorter);
	free(o->rows);
	idmap_fini(&o->by_name);
	*o = (struct gpu_by_range){0};
}
