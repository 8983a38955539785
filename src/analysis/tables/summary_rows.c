/* SPDX-License-Identifier: MIT */
/* Rows of a summary: tracks of devices, groups of records, failures. */
#include "analysis/tables/summary_steps.h"

#include <stdlib.h>

/* Tracks ------------------------------------------------------------------------- */

static bool is_track(const struct summary_track *l, const struct summary_track_ids *k)
{
	return l->device == k->device && l->name == k->name && l->process == k->process &&
	       l->thread == k->thread && l->queue == k->queue && l->place == k->place;
}

static uint32_t find_track(struct summary *s, const struct summary_track_ids *k)
{
	uint64_t hash = lookup_mix((uint64_t)k->device << 32 | k->name);
	uint32_t i;

	hash = lookup_mix(hash + ((uint64_t)k->process << 32 | k->thread));
	hash = lookup_mix(hash + ((uint64_t)k->place << 32 | k->queue));
	for (; (i = idmap_get(&s->tracks_by_hash, hash)) != LOOKUP_NONE; hash++)
		if (is_track(&s->tracks[i], k))
			return i;
	GROW_LIST(s->tracks, s->track_count, s->track_room);
	s->tracks[s->track_count] = (struct summary_track){.device = k->device,
							   .name = k->name,
							   .process = k->process,
							   .thread = k->thread,
							   .queue = k->queue,
							   .place = k->place,
							   .all.pool = &s->pool,
							   .kernels.pool = &s->pool,
							   .copies.pool = &s->pool};
	idmap_put(&s->tracks_by_hash, hash, s->track_count);
	return s->track_count++;
}

struct summary_track_ids summary_track_ids_of(const struct summary *s,
					      const struct summary_entry *e)
{
	unsigned keys = s->track_keys;

	return (struct summary_track_ids){
		.device = e->device,
		.name = keys & SUMMARY_NAME ? e->name : LOOKUP_NONE,
		.process = keys & SUMMARY_PROCESS ? e->process : LOOKUP_NONE,
		.thread = keys & SUMMARY_THREAD ? e->thread : LOOKUP_NONE,
		.queue = keys & SUMMARY_QUEUE ? e->queue : LOOKUP_NONE,
		.place = s->processes[e->process].place,
	};
}

uint32_t summary_track_of(struct summary *s, const struct summary_entry *e)
{
	const struct summary_track_ids ids = summary_track_ids_of(s, e);

	return find_track(s, &ids);
}

/* Groups ------------------------------------------------------------------------- */

/* Key of a group. Small, because it is computed for every record. */
struct group_ids {
	uint32_t domain, name, device, process, thread, queue, place;
	uint32_t scope, category; /* set only for ranges; otherwise 0 */
};

static bool is_group(const struct summary_group *g, const struct group_ids *k)
{
	return g->name == k->name && g->domain == k->domain && g->device == k->device &&
	       g->process == k->process && g->thread == k->thread && g->queue == k->queue &&
	       g->place == k->place && g->scope == k->scope && g->category == k->category;
}

static uint32_t find_group(struct summary_groups *groups, const struct group_ids *k,
			   const struct summary_entry *e)
{
	uint64_t hash = lookup_mix((uint64_t)k->name << 32 | k->device);
	uint32_t row;

	hash = lookup_mix(hash + ((uint64_t)k->process << 32 | k->thread));
	hash = lookup_mix(hash + ((uint64_t)k->queue << 32 | k->domain));
	if (k->place != LOOKUP_NONE)
		hash = lookup_mix(hash + k->place);
	if (k->scope | k->category)
		hash = lookup_mix(hash + ((uint64_t)k->scope << 32 | k->category));
	for (; (row = idmap_get(&groups->by_hash, hash)) != LOOKUP_NONE; hash++)
		if (is_group(&groups->rows[row], k))
			return row;
	GROW_LIST(groups->rows, groups->count, groups->room);
	groups->rows[groups->count] = (struct summary_group){
		.domain = k->domain,
		.name = k->name,
		.device = k->device,
		.process = k->process,
		.thread = k->thread,
		.queue = k->queue,
		.place = k->place,
		.scope = k->scope,
		.category = k->category,
		.device_op = e->item->device_op,
		.kind = e->kind,
	};
	idmap_put(&groups->by_hash, hash, groups->count);
	return groups->count++;
}

uint32_t summary_group_of(struct summary *s, const struct summary_entry *e)
{
	struct summary_groups *groups = &s->groups[e->class];
	unsigned keys = s->keys[e->class];
	const struct group_ids k = {
		.domain = e->domain,
		.name = keys & SUMMARY_NAME || e->class >= SUMMARY_COPIES ? e->name : LOOKUP_NONE,
		.device = keys & SUMMARY_DEVICE ? e->device : LOOKUP_NONE,
		.process = keys & SUMMARY_PROCESS ? e->process : LOOKUP_NONE,
		.thread = keys & SUMMARY_THREAD ? e->thread : LOOKUP_NONE,
		.queue = keys & SUMMARY_QUEUE ? e->queue : LOOKUP_NONE,
		.place = s->processes[e->process].place,
		.scope = e->scope,
		.category = e->category,
	};
	uint32_t *hint;

	GROW_LIST(groups->hints, e->name, groups->hint_count);
	hint = &groups->hints[e->name];
	if (!*hint || !is_group(&groups->rows[*hint - 1], &k))
		*hint = find_group(groups, &k, e) + 1;
	return *hint - 1;
}

void summary_group_add(struct summary_group *g, const struct summary_entry *e)
{
	g->count++;
	g->failed += e->failed;
	g->refused += e->refused;
	g->bytes += e->item->bytes;
	if (e->timed) {
		histogram_add(&g->times, e->duration_ns);
		g->timed_bytes += e->item->bytes;
	}
}

void summary_add_failure(struct summary *s, const struct summary_entry *e)
{
	bool device = e->class >= SUMMARY_KERNELS;
	uint64_t key = lookup_mix((uint64_t)e->name << 32 | (uint32_t)e->status) +
		       (device ? e->domain + 16 : e->domain);
	struct summary_failure *f;
	uint32_t i;

	for (; (i = idmap_get(&s->failure_ids, key)) != LOOKUP_NONE; key++) {
		f = &s->failures[i];
		if (f->name == e->name && f->status == e->status && f->domain == e->domain &&
		    f->device == device) {
			f->count++;
			return;
		}
	}
	GROW_LIST(s->failures, s->failure_count, s->failure_room);
	idmap_put(&s->failure_ids, key, s->failure_count);
	s->failures[s->failure_count++] =
		(struct summary_failure){e->domain, e->name, e->status, device, e->refused, 1};
}

/* Joining rows ----------------------------------------------------------------------- */

static void add_group(struct summary_group *to, struct summary_group *from)
{
	histogram_merge(&to->times, &from->times);
	histogram_fini(&from->times);
	to->count += from->count;
	to->failed += from->failed;
	to->refused += from->refused;
	to->bytes += from->bytes;
	to->timed_bytes += from->timed_bytes;
}

/* Join rows of the same name. Rows keep the order of their first records. */
static void join_groups(struct summary_groups *groups)
{
	struct idmap by_name = {0};
	uint32_t kept = 0;

	for (uint32_t i = 0; i < groups->count; i++) {
		struct summary_group *g = &groups->rows[i];
		const uint64_t key = (uint64_t)g->domain << 32 | g->name;
		const uint32_t first = idmap_get(&by_name, key);

		g->device = LOOKUP_NONE;
		if (first != LOOKUP_NONE) {
			add_group(&groups->rows[first], g);
			continue;
		}
		idmap_put(&by_name, key, kept);
		groups->rows[kept++] = *g;
	}
	idmap_fini(&by_name);
	idmap_fini(&groups->by_hash);
	free(groups->hints);
	groups->hints = NULL;
	groups->hint_count = 0;
	groups->count = kept;
}

void summary_join_devices(struct summary *s)
{
	join_groups(&s->groups[SUMMARY_KERNELS]);
	join_groups(&s->groups[SUMMARY_COPIES]);
	s->keys[SUMMARY_KERNELS] &= ~(unsigned)SUMMARY_DEVICE;
	s->keys[SUMMARY_COPIES] &= ~(unsigned)SUMMARY_DEVICE;
}
