/* SPDX-License-Identifier: MIT */
/* See range_paths.h. */
#include "analysis/query/range_paths.h"

#include <stdbool.h>
#include <stdlib.h>

struct range_paths_row {
	uint64_t thread, first, last, name;
};

/* Open ranges, outermost first. */
struct range_paths_ranges {
	struct range_paths_range {
		uint64_t last;
		uint32_t name;
	} * open;
	uint32_t depth, room, thread;
};

static int compare_rows_by_call(const void *a, const void *b)
{
	const struct range_paths_row *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->last != y->last)
		return x->last > y->last ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

void range_paths_add(struct range_paths *e, uint64_t thread, uint64_t first, uint64_t last,
		     uint32_t name)
{
	const struct range_paths_row row = {thread, first, last, name};

	e->sorter.row_bytes = sizeof row;
	e->sorter.compare = compare_rows_by_call;
	if (first && last >= first)
		sorter_add(&e->sorter, &row);
}

static bool has_name(const struct range_paths *e, uint32_t set, uint32_t name)
{
	for (; set != LOOKUP_NONE; set = e->sets[set].around)
		if (e->sets[set].name == name)
			return true;
	return false;
}

static uint32_t put_set(struct range_paths *e, uint32_t name, uint32_t around)
{
	uint64_t key = (uint64_t)around << 32 | name;
	uint32_t set = idmap_get(&e->set_numbers, key);

	if (set != LOOKUP_NONE)
		return set;
	GROW_LIST(e->sets, e->set_count, e->set_room);
	e->sets[e->set_count] = (struct range_path){name, around};
	idmap_put(&e->set_numbers, key, e->set_count);
	return e->set_count++;
}

/* Note that the thread's calls, starting with call @id, are in the currently open ranges. */
static void note_change(struct range_paths *e, const struct range_paths_ranges *r, uint64_t id)
{
	struct range_paths_change *last = e->change_count ? &e->changes[e->change_count - 1] : NULL;
	uint32_t set = LOOKUP_NONE;

	for (uint32_t i = 0; i < r->depth; i++)
		if (!has_name(e, set, r->open[i].name))
			set = put_set(e, r->open[i].name, set);
	if (last && last->thread == r->thread && last->id == id) {
		last->set = set;
		return;
	}
	if (last && last->thread == r->thread && last->set == set)
		return;
	GROW_LIST(e->changes, e->change_count, e->change_room);
	e->changes[e->change_count++] = (struct range_paths_change){id, r->thread, set};
}

/* Close ranges that end before call @id, earliest end first. Ranges may cross each other. */
static void close_before(struct range_paths *e, struct range_paths_ranges *r, uint64_t id)
{
	while (r->depth) {
		uint64_t end = UINT64_MAX;
		uint32_t kept = 0;

		for (uint32_t i = 0; i < r->depth; i++)
			if (r->open[i].last < end)
				end = r->open[i].last;
		if (end >= id)
			return;
		for (uint32_t i = 0; i < r->depth; i++)
			if (r->open[i].last != end)
				r->open[kept++] = r->open[i];
		r->depth = kept;
		note_change(e, r, end + 1);
	}
}

static void open_range(struct range_paths *e, struct range_paths_ranges *r,
		       const struct range_paths_row *row)
{
	GROW_LIST(r->open, r->depth, r->room);
	r->open[r->depth++] = (struct range_paths_range){row->last, (uint32_t)row->name};
	note_change(e, r, row->first);
}

int range_paths_finish(struct range_paths *e)
{
	struct range_paths_ranges r = {0};
	const void *next;
	int rc = 0;

	while (e->sorter.row_bytes && (rc = sorter_next(&e->sorter, &next)) == 1) {
		const struct range_paths_row *row = next;
		uint32_t thread = idmap_get(&e->thread_numbers, row->thread);

		if (thread == LOOKUP_NONE) {
			close_before(e, &r, UINT64_MAX);
			thread = e->thread_count++;
			idmap_put(&e->thread_numbers, row->thread, thread);
			r.thread = thread;
		}
		close_before(e, &r, row->first);
		open_range(e, &r, row);
	}
	close_before(e, &r, UINT64_MAX);
	free(r.open);
	sorter_fini(&e->sorter);
	return rc;
}

uint32_t range_paths_find(const struct range_paths *e, uint64_t thread, uint64_t id)
{
	uint32_t number = idmap_get(&e->thread_numbers, thread);
	size_t low = 0, high = e->change_count;

	if (number == LOOKUP_NONE)
		return LOOKUP_NONE;
	while (low < high) { /* find the first change after call @id */
		size_t middle = low + (high - low) / 2;
		const struct range_paths_change *c = &e->changes[middle];

		if (c->thread < number || (c->thread == number && c->id <= id))
			low = middle + 1;
		else
			high = middle;
	}
	return low && e->changes[low - 1].thread == number ? e->changes[low - 1].set : LOOKUP_NONE;
}

unsigned range_paths_names(const struct range_paths *e, uint32_t set, uint32_t *names,
			   unsigned most)
{
	unsigned count = 0;

	for (; set != LOOKUP_NONE && count < most; set = e->sets[set].around)
		names[count++] = e->sets[set].name;
	return count;
}

void range_paths_fini(struct range_paths *e)
{
	sorter_fini(&e->sorter);
	free(e->sets);
	free(e->changes);
	idmap_fini(&e->set_numbers);
	idmap_fini(&e->thread_numbers);
	*e = (struct range_paths){0};
}
