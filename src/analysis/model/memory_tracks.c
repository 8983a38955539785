/* SPDX-License-Identifier: MIT */
/* See memory_tracks.h. */
#include "analysis/model/memory_tracks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/map.h"
#include "util/error.h"
#include "util/grow.h"

struct point {
	uint64_t ns, in_use, number; /* number: of the change, counted in time order */
};

struct track {
	struct gt_memory_track shown;
	uint64_t in_use, changes, bytes, first_ns, last_ns;
	uint64_t part; /* one plus the index of the current part; 0: none yet */
	struct point first, least, most, last;
};

struct drawing {
	struct gt_memory_use *use;
	struct gt_map by_key;
	struct track *tracks;
	size_t count, room;
	gt_memory_point_fn *point;
	void *exporter;
};

/* Find or create the track of a change. Return NULL if out of memory. */
static struct track *find_track(struct drawing *d, const struct gt_memory_change *c)
{
	uint64_t key = gt_memory_key(c->domain, c->memory, c->device);
	int64_t found = gt_map_find(&d->by_key, key, c->process);
	struct track *more;

	if (found >= 0)
		return &d->tracks[found];
	more = gt_grow(d->tracks, d->count, &d->room, sizeof *more);
	if (!more)
		return NULL;
	d->tracks = more;
	if (gt_map_add(&d->by_key, key, c->process, (uint32_t)d->count))
		return NULL;
	more[d->count] = (struct track){.shown = {.process = c->process,
						  .index = (uint32_t)d->count,
						  .device = c->device,
						  .domain = (enum gt_domain)c->domain,
						  .memory = (enum gt_memory)c->memory}};
	return &more[d->count++];
}

static void give_point(struct drawing *d, const struct track *t, const struct point *p)
{
	d->point(d->exporter, &t->shown, p->ns, p->in_use);
}

/* Write the first, lowest, highest and last point of the part, in time order and without
 * duplicates. */
static void end_part(struct drawing *d, struct track *t)
{
	const struct point *low = &t->least, *high = &t->most;

	if (!t->part)
		return;
	if (low->number > high->number) {
		low = &t->most;
		high = &t->least;
	}
	give_point(d, t, &t->first);
	if (low->number > t->first.number && low->number < t->last.number)
		give_point(d, t, low);
	if (high->number > t->first.number && high->number < t->last.number &&
	    high->number != low->number)
		give_point(d, t, high);
	if (t->last.number > t->first.number)
		give_point(d, t, &t->last);
}

static void add_point(struct drawing *d, struct track *t, const struct point *p)
{
	uint64_t width = (t->last_ns - t->first_ns) / GT_MEMORY_PARTS + 1,
		 part = (p->ns - t->first_ns) / width + 1;

	if (t->changes <= GT_MEMORY_POINTS) {
		give_point(d, t, p);
		return;
	}
	if (part != t->part) {
		end_part(d, t);
		t->part = part;
		t->first = t->least = t->most = *p;
	}
	if (p->in_use < t->least.in_use)
		t->least = *p;
	if (p->in_use > t->most.in_use)
		t->most = *p;
	t->last = *p;
}

static bool has_effect(const struct gt_memory_change *c)
{
	return !c->is_retain && (!c->is_free || c->is_matched);
}

/* Count the changes of each track, which determine how it is drawn. */
static int measure_tracks(struct drawing *d)
{
	for (size_t i = 0; i < d->use->count; i++) {
		const struct gt_memory_change *c = &d->use->changes[i];
		struct track *t = has_effect(c) ? find_track(d, c) : NULL;

		if (!has_effect(c))
			continue;
		if (!t)
			return gt_error(-ENOMEM, "cannot export");
		if (!t->changes++)
			t->first_ns = c->ns;
		t->last_ns = c->ns;
		t->bytes += c->bytes;
	}
	return 0;
}

/* End the allocation that @c replaced at the same address. If that allocation is of another kind of
 * memory, this adds a point to another track. */
static void end_replaced(struct drawing *d, const struct gt_memory_change *c, struct track *into,
			 uint64_t number)
{
	const struct gt_memory_change *before = &d->use->changes[c->replaced - 1];
	struct track *t = find_track(d, before);

	t->in_use -= before->bytes;
	if (t == into || !t->bytes)
		return;
	add_point(d, t, &(struct point){c->ns, t->in_use, number});
}

static void draw_tracks(struct drawing *d)
{
	for (size_t i = 0; i < d->use->count; i++) {
		const struct gt_memory_change *c = &d->use->changes[i];
		struct track *t = has_effect(c) ? find_track(d, c) : NULL;

		if (!t || !t->bytes)
			continue;
		if (c->replaced)
			end_replaced(d, c, t, i);
		t->in_use += c->is_free ? UINT64_C(0) - c->bytes : c->bytes;
		add_point(d, t, &(struct point){c->ns, t->in_use, i});
	}
	for (size_t i = 0; i < d->count; i++)
		end_part(d, &d->tracks[i]);
}

int gt_memory_tracks_each(struct gt_memory_use *use, gt_memory_point_fn *point, void *exporter)
{
	struct drawing d = {.use = use, .point = point, .exporter = exporter};
	int status;

	if (use->is_full)
		return 0;
	status = gt_memory_use_settle(use, NULL, NULL);
	if (!status)
		status = measure_tracks(&d);
	if (!status)
		draw_tracks(&d);
	gt_map_fini(&d.by_key);
	free(d.tracks);
	return status;
}

const char *gt_memory_track_label(const struct gt_memory_track *track, char label[GT_MEMORY_LABEL])
{
	int bytes = snprintf(label, GT_MEMORY_LABEL, "%s memory (%s)",
			     gt_memory_name(track->memory), gt_domain_name(track->domain));

	if (track->device != GT_MEMORY_NO_DEVICE && bytes > 0 && bytes < GT_MEMORY_LABEL)
		snprintf(label + bytes, GT_MEMORY_LABEL - (size_t)bytes, ", device %u",
			 (unsigned)track->device);
	return label;
}
