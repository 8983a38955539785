/* SPDX-License-Identifier: MIT */
/* See idle.h. Finds the rows in which gaps are summed. */
#include <string.h>

#include "analysis/idle/idle_steps.h"

uint32_t idle_find_row(struct idle *s, const struct idle_owner *owner)
{
	uint64_t hash = lookup_mix((uint64_t)owner->device << 32 | owner->name);
	uint32_t i = s->last_row;

	if (i != LOOKUP_NONE && !memcmp(&s->rows[i].owner, owner, sizeof *owner))
		return i;
	hash = lookup_mix(hash + ((uint64_t)owner->process << 32 | owner->thread));
	hash = lookup_mix(hash + ((uint64_t)owner->place << 32 | owner->queue));
	for (; (i = idmap_get(&s->row_numbers, hash)) != LOOKUP_NONE; hash++)
		if (!memcmp(&s->rows[i].owner, owner, sizeof *owner))
			return s->last_row = i;
	GROW_LIST(s->rows, s->row_count, s->row_room);
	s->rows[s->row_count] = (struct idle_row){.owner = *owner};
	idmap_put(&s->row_numbers, hash, s->row_count);
	return s->last_row = s->row_count++;
}

uint32_t idle_find_gap_row(struct idle *s, const struct idle_gap_row *gap)
{
	const struct idle_origin *origin = &s->origins[gap->origin];
	const uint64_t step =
		origin->device < s->first_step_count ? s->first_steps[origin->device] : 0;
	enum idle_phase phase = gap->end <= step ? IDLE_PHASE_START_UP : IDLE_PHASE_STEPS;
	struct idle_owner owner;
	uint32_t number;

	if (!step || origin->row == LOOKUP_NONE)
		return origin->row;
	number = s->rows[origin->row].phase_rows[phase - 1];
	if (number)
		return number - 1;
	owner = s->rows[origin->row].owner;
	owner.phase = phase;
	number = idle_find_row(s, &owner); /* idle_find_row() may move the rows */
	s->rows[origin->row].phase_rows[phase - 1] = number + 1;
	return number;
}
