/* SPDX-License-Identifier: MIT */
/* See idle.h. Finds the calls between which idle time lies, and adds up idle time by these
 * pairs. */
#include <stdlib.h>

#include "analysis/idle/idle_steps.h"
#include "record/operation.h"

void idle_pairs_fini(struct idle *s)
{
	free(s->sites);
	free(s->pairs);
	idmap_fini(&s->site_numbers);
	idmap_fini(&s->pair_numbers);
}

static bool is_pair(const struct idle *s, uint32_t number, const struct idle_pair *pair)
{
	const struct idle_pair *other = number < s->pair_count ? &s->pairs[number] : NULL;

	return other && other->previous_op == pair->previous_op &&
	       other->next_op == pair->next_op && other->previous_line == pair->previous_line &&
	       other->next_line == pair->next_line;
}

static uint32_t name_call(struct idle *s, uint32_t op)
{
	return op ? texts_put(s->names, gt_operation_name(op)) : LOOKUP_NONE;
}

uint32_t idle_find_pair(struct idle *s, uint32_t process, const struct gt_idle_edge *previous,
			const struct gt_idle_edge *next)
{
	struct idle_pair pair = {
		.previous_op = previous->id ? previous->op : 0,
		.previous_line = idle_find_line(s, process, previous->id),
		.next_op = next->id ? next->op : 0,
		.next_line = idle_find_line(s, process, next->id),
	};
	uint64_t hash;
	uint32_t i;

	if (is_pair(s, s->last_pair, &pair))
		return s->last_pair;
	hash = lookup_mix((uint64_t)pair.previous_op << 32 | pair.next_op);
	hash = lookup_mix(hash + ((uint64_t)pair.previous_line << 32 | pair.next_line));
	for (; (i = idmap_get(&s->pair_numbers, hash)) != LOOKUP_NONE; hash++)
		if (is_pair(s, i, &pair))
			return s->last_pair = i;
	pair.previous_call = name_call(s, pair.previous_op);
	pair.next_call = name_call(s, pair.next_op);
	GROW_LIST(s->pairs, s->pair_count, s->pair_room);
	s->pairs[s->pair_count] = pair;
	idmap_put(&s->pair_numbers, hash, s->pair_count);
	return s->last_pair = s->pair_count++;
}

static bool is_site(const struct idle *s, uint32_t number, uint32_t row, uint32_t cause,
		    uint32_t pair)
{
	return number < s->site_count && s->sites[number].row == row &&
	       s->sites[number].cause == cause && s->sites[number].pair == pair;
}

static uint32_t find_site(struct idle *s, uint32_t row, uint32_t cause, uint32_t pair)
{
	uint64_t hash = lookup_mix(lookup_mix((uint64_t)row << 32 | cause) + pair);
	uint32_t i;

	if (is_site(s, s->last_site, row, cause, pair))
		return s->last_site;
	for (; (i = idmap_get(&s->site_numbers, hash)) != LOOKUP_NONE; hash++)
		if (is_site(s, i, row, cause, pair))
			return s->last_site = i;
	GROW_LIST(s->sites, s->site_count, s->site_room);
	s->sites[s->site_count] = (struct idle_site){.row = row, .cause = cause, .pair = pair};
	idmap_put(&s->site_numbers, hash, s->site_count);
	return s->last_site = s->site_count++;
}

void idle_add_site(struct idle *s, uint32_t row, enum gt_idle_cause cause, uint32_t pair,
		   uint64_t ns)
{
	uint32_t number;

	if (pair == LOOKUP_NONE)
		return;
	number = find_site(s, row, cause, pair); /* find_site() may move the sites */
	s->sites[number].ns += ns;
	s->sites[number].gaps++;
}
