/* SPDX-License-Identifier: MIT */
/* Maps the plug-in's correlations to calls, with a hash table of the most recent calls. When the
 * table is full, it becomes the previous table, and the former previous table is discarded. A GPU
 * activity that completes after a million further calls is therefore not linked. */
#include <stdlib.h>
#include <string.h>

#include "runtime/privateuse1/pu1_parts.h"

enum { ROOM_AT_FIRST = 1024 };

static struct gt_pu1_link *find_place(struct gt_pu1_link *table, uint32_t room,
				      uint64_t correlation)
{
	uint64_t at = correlation * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (room - 1);

	while (table[at].correlation && table[at].correlation != correlation)
		at = (at + 1) & (room - 1);
	return &table[at];
}

/* Make room for another entry if necessary. Return false if out of memory. */
static bool grow_links(struct gt_pu1_links *l)
{
	struct gt_pu1_link *bigger;

	if (l->room && 2 * l->used < l->room)
		return true;
	if (l->room == GT_PU1_LINKS) {
		struct gt_pu1_link *full = l->now;

		if (!l->before)
			l->before = malloc(l->room * sizeof *l->before);
		if (!l->before)
			return false;
		l->now = l->before;
		l->before = full;
		memset(l->now, 0, l->room * sizeof *l->now);
		l->used = 0;
		return true;
	}
	bigger = calloc(l->room ? 2 * l->room : ROOM_AT_FIRST, sizeof *bigger);
	if (!bigger)
		return l->used + 1 < l->room;
	for (uint32_t i = 0; i < l->room; i++)
		if (l->now[i].correlation)
			*find_place(bigger, 2 * l->room, l->now[i].correlation) = l->now[i];
	free(l->now);
	l->now = bigger;
	l->room = l->room ? 2 * l->room : ROOM_AT_FIRST;
	return true;
}

void gt_pu1_link_call(struct gt_pu1_links *l, const struct gt_pu1_link *call)
{
	struct gt_pu1_link *at;

	if (!call->correlation || !grow_links(l))
		return;
	at = find_place(l->now, l->room, call->correlation);
	/* both levels of an API share the correlation, and activities are linked to the level that
	 * the program called */
	if (at->correlation && !at->driver)
		return;
	l->used += !at->correlation;
	*at = *call;
}

const struct gt_pu1_link *gt_pu1_find_call(const struct gt_pu1_links *l, uint64_t correlation)
{
	const struct gt_pu1_link *at;

	if (!correlation || !l->room)
		return NULL;
	at = find_place(l->now, l->room, correlation);
	if (!at->correlation && l->before)
		at = find_place(l->before, l->room, correlation);
	return at->correlation ? at : NULL;
}
