/* SPDX-License-Identifier: MIT */
/* See picture_pauses.h. A device is not recorded while at least one of its processes is paused and
 * no other live process is recorded:
 *
 *   process 1   |recorded ---- paused ------- recorded ------|
 *   process 2             |------ recorded ---|
 *   device      ....................paused....................   between the two
 *
 * analysis/idle/unrecorded.h finds such times in gaps between activities. A picture also includes
 * the time before the first activity and after the last. If a process was recorded in this time,
 * the device had no activity. */
#include "cli/picture_pauses.h"

#include <stdlib.h>
#include <string.h>

void picture_users_add(struct picture_users *users, uint32_t process)
{
	for (uint32_t i = users->count; i-- > 0;) /* the process is mostly the last one */
		if (users->list[i] == process)
			return;
	GROW_LIST(users->list, users->count, users->room);
	users->list[users->count++] = process;
}

/* Edges ---------------------------------------------------------------------------- */

/* A time at which the number of recorded or paused processes changes. */
struct edge {
	uint64_t ns;
	int recorded, paused; /* changes of the two numbers */
	const struct gt_unrecorded *span;
};

struct edges {
	struct edge *list;
	size_t count, room;
};

static void add_edges(struct edges *e, uint64_t from_ns, uint64_t to_ns,
		      const struct gt_unrecorded *span)
{
	if (to_ns <= from_ns)
		return;
	GROW_LIST(e->list, e->count + 1, e->room);
	e->list[e->count++] = (struct edge){from_ns, !span, !!span, span};
	e->list[e->count++] = (struct edge){to_ns, -!span, -!!span, span};
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

static uint64_t clip(const struct picture *p, uint64_t ns)
{
	return ns < p->start_ns ? p->start_ns : ns > p->end_ns ? p->end_ns : ns;
}

static void add_process(const struct picture_finder *f, struct edges *e, uint32_t process)
{
	const struct picture *p = f->picture;
	const struct gt_process_info *info = gt_capture_process(f->capture, process);
	size_t count;
	const struct gt_unrecorded *spans = gt_unrecorded_of(&f->list, process, &count);
	uint64_t at = info ? clip(p, info->start_ns) : p->start_ns,
		 end = info && info->end_ns ? clip(p, info->end_ns) : p->end_ns;

	for (size_t i = 0; i < count; i++) {
		uint64_t from = clip(p, spans[i].start_ns), to = clip(p, spans[i].end_ns);

		add_edges(e, at, from, NULL);
		add_edges(e, from, to, &spans[i]);
		at = to;
	}
	add_edges(e, at, end, NULL);
}

static void add_pause(struct picture *p, struct picture_pauses *to, uint64_t from_ns,
		      uint64_t to_ns, const struct gt_unrecorded *span)
{
	char text[GT_UNRECORDED_TEXT];
	uint32_t why = texts_put(&p->texts, gt_unrecorded_text(span, text));
	struct picture_pause *last = to->count ? &to->list[to->count - 1] : NULL;

	if (last && last->end_ns == from_ns && last->why == why) {
		last->end_ns = to_ns;
		return;
	}
	GROW_LIST(to->list, to->count, to->room);
	to->list[to->count++] = (struct picture_pause){from_ns, to_ns, why};
}

/* Add the pauses to @to. Local `why`: reason of the pause that began last. */
static void walk_edges(struct picture *p, const struct edges *e, struct picture_pauses *to)
{
	int recorded = 0, paused = 0;
	const struct gt_unrecorded *why = NULL;

	for (size_t i = 0; i < e->count; i++) {
		recorded += e->list[i].recorded;
		paused += e->list[i].paused;
		if (e->list[i].paused > 0)
			why = e->list[i].span;
		if (i + 1 < e->count && e->list[i + 1].ns > e->list[i].ns && paused && !recorded)
			add_pause(p, to, e->list[i].ns, e->list[i + 1].ns, why);
	}
}

/* Sets ----------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t keep_set(struct picture *p, const struct picture_pauses *set)
{
	if (!set->count)
		return UINT32_MAX;
	GROW_LIST(p->pauses, p->pauses_count, p->pauses_room);
	p->pauses[p->pauses_count] = *set;
	return p->pauses_count++;
}

uint32_t picture_pauses_find(struct picture_finder *f, struct picture_users *users)
{
	struct picture_pauses set = {.count = 0};
	bool is_one = users->count == 1;
	uint32_t found;
	struct edges e = {.count = 0};

	if (!f->list.count || !users->count)
		return UINT32_MAX;
	found = is_one ? idmap_get(&f->by_users, (uint64_t)users->list[0] + 1) : LOOKUP_NONE;
	if (found != LOOKUP_NONE)
		return found ? found - 1 : UINT32_MAX;
	qsort(users->list, users->count, sizeof *users->list, compare_numbers);
	for (uint32_t i = 0; i < users->count; i++)
		add_process(f, &e, users->list[i]);
	if (e.count)
		qsort(e.list, e.count, sizeof *e.list, compare_edges);
	walk_edges(f->picture, &e, &set);
	free(e.list);
	found = keep_set(f->picture, &set);
	if (is_one)
		idmap_put(&f->by_users, (uint64_t)users->list[0] + 1, found + 1);
	return found;
}

int picture_pauses_begin(struct picture_finder *f, struct picture *p, const struct gt_capture *c)
{
	*f = (struct picture_finder){.picture = p, .capture = c};
	return gt_unrecorded_read(&f->list, c);
}

void picture_pauses_end(struct picture_finder *f)
{
	gt_unrecorded_fini(&f->list);
	idmap_fini(&f->by_users);
}

/* For rows ------------------------------------------------------------------------- */

const struct picture_pauses *picture_pauses_of(const struct picture *p,
					       const struct picture_row *row)
{
	return row->pauses < p->pauses_count ? &p->pauses[row->pauses] : NULL;
}

uint64_t picture_paused_ns(const struct picture *p, const struct picture_row *row,
			   uint64_t start_ns, uint64_t end_ns)
{
	const struct picture_pauses *set = picture_pauses_of(p, row);
	size_t low = 0, high = set ? set->count : 0;
	uint64_t sum = 0;

	while (low < high) { /* find the first pause that ends after the start */
		size_t middle = low + (high - low) / 2;

		if (set->list[middle].end_ns <= start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; set && low < set->count && set->list[low].start_ns < end_ns; low++) {
		const struct picture_pause *one = &set->list[low];
		uint64_t from = one->start_ns > start_ns ? one->start_ns : start_ns,
			 to = one->end_ns < end_ns ? one->end_ns : end_ns;

		sum += to - from;
	}
	return sum;
}
