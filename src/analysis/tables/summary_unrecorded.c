/* SPDX-License-Identifier: MIT */
/* See summary_unrecorded.h. The lists of devices come first, in numerical order, followed by the
 * lists of tracks and ranks that contain the activities of only some processes. */
#include "analysis/tables/summary_unrecorded.h"

#include <stdlib.h>

/* Owner of the activities of a track or rank. */
struct owner {
	const struct summary *s;
	uint32_t process, place, row; /* LOOKUP_NONE: any */
};

static bool is_of_owner(const void *data, uint32_t process)
{
	const struct owner *o = data;

	if (o->row != LOOKUP_NONE)
		return o->s->ranks.of_process[process] == o->row;
	return (o->process == LOOKUP_NONE || o->process == process) &&
	       (o->place == LOOKUP_NONE || o->s->processes[process].place == o->place);
}

static const struct unrecorded_list *make_list(struct summary *s, uint32_t device,
					       const struct owner *owner)
{
	struct unrecorded_list *list = &s->unrecorded_lists[s->unrecorded_count++];

	*list = unrecorded_make(&s->unrecorded, s->capture, device, owner ? is_of_owner : NULL,
				owner);
	return list;
}

static void find_of_track(struct summary *s, struct summary_track *track)
{
	const struct owner owner = {s, track->process, track->place, LOOKUP_NONE};

	if (track->process == LOOKUP_NONE && track->place == LOOKUP_NONE)
		track->all.unrecorded = &s->unrecorded_lists[track->device];
	else
		track->all.unrecorded = make_list(s, track->device, &owner);
}

void summary_find_unrecorded(struct summary *s)
{
	if (!s->unrecorded.count || !unrecorded_is_possible(s->capture))
		return;
	s->unrecorded_lists =
		allocate_list((size_t)s->device_count + s->track_count + s->ranks.count,
			      sizeof *s->unrecorded_lists);
	for (uint32_t d = 0; d < s->device_count; d++)
		make_list(s, d, NULL);
	for (uint32_t i = 0; i < s->track_count; i++)
		find_of_track(s, &s->tracks[i]);
	for (uint32_t i = 0; i < s->ranks.count; i++) {
		const struct owner owner = {s, LOOKUP_NONE, LOOKUP_NONE, i};

		s->ranks.rows[i].busy.unrecorded = make_list(s, LOOKUP_NONE, &owner);
	}
	s->idle.unrecorded = s->unrecorded_lists;
}

void summary_fini_unrecorded(struct summary *s)
{
	for (uint32_t i = 0; i < s->unrecorded_count; i++)
		unrecorded_list_fini(&s->unrecorded_lists[i]);
	free(s->unrecorded_lists);
	unrecorded_fini(&s->unrecorded);
}
