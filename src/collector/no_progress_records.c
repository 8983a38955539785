/* SPDX-License-Identifier: MIT */
/* See no_progress_records.h. */
#include "collector/no_progress_records.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/process.h"
#include "record/operation.h"
#include "util/clock_ns.h"
#include "util/grow.h"

static inline uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static struct progress_process *find_watched(const struct gt_progress *p, uint32_t index)
{
	for (size_t i = p->process_count; i-- > 0;)
		if (p->processes[i]->index == index)
			return p->processes[i];
	return NULL;
}

struct progress_process *progress_get_process(struct gt_progress *p,
					      const struct gt_process *process)
{
	struct progress_process *w = find_watched(p, process->index), **more;

	if (w)
		return w;
	more = gt_grow(p->processes, p->process_count, &p->process_room, sizeof(void *));
	if (!more)
		return NULL;
	p->processes = more;
	w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->index = process->index;
	w->pid = process->pid;
	memcpy(w->exe, process->segment->exe, sizeof w->exe - 1);
	p->processes[p->process_count++] = w;
	return w;
}

static void free_watched(struct progress_process *w)
{
	free(w->devices);
	free(w->calls);
	free(w);
}

static struct progress_device *get_device(struct progress_process *w, uint32_t ref)
{
	struct progress_device *more;

	for (size_t i = 0; i < w->device_count; i++)
		if (w->devices[i].ref == ref)
			return &w->devices[i];
	more = gt_grow(w->devices, w->device_count, &w->device_room, sizeof *more);
	if (!more)
		return NULL;
	w->devices = more;
	w->devices[w->device_count] = (struct progress_device){.ref = ref};
	return &w->devices[w->device_count++];
}

/* Remove the time from @start to @end from the gaps that wait. Keeps the longer rest. */
static void narrow_gaps(struct progress_device *d, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < d->gap_count; i++) {
		struct progress_gap *g = &d->gaps[i];
		uint64_t from = start < g->from ? g->from : start, to = end > g->to ? g->to : end;

		if (from >= to)
			continue;
		if (from - g->from > g->to - to)
			g->to = from;
		else
			g->from = to;
	}
}

static void add_activity(struct gt_progress *p, struct progress_process *w, const uint64_t *r)
{
	uint64_t words[sizeof(struct gt_record_device) / 8];
	struct gt_record_device a;
	struct progress_device *d;

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		words[i] = load(r + i);
	memcpy(&a, words, sizeof a);
	if (!a.start || a.end < a.start)
		return;
	d = get_device(w, a.head.op);
	if (!d)
		return;
	narrow_gaps(d, a.start, a.end);
	if (d->end && a.start > d->end && d->gap_count < PROGRESS_GAPS_MOST && !d->fired)
		d->gaps[d->gap_count++] = (struct progress_gap){d->end, a.start, p->now_ns};
	d->end = a.end > d->end ? a.end : d->end;
	d->seen_ns = p->now_ns;
	d->fired = 0;
}

void gt_progress_look(struct gt_progress *p, const struct gt_process *process, const void *data,
		      size_t bytes)
{
	const uint64_t *r = data, *end = r + bytes / 8;
	struct progress_process *w = progress_get_process(p, process);

	/* the records may be newer than the last decision */
	p->now_ns = gt_clock_ns(CLOCK_MONOTONIC);
	while (w && r < end) {
		uint64_t head = load(r);
		uint32_t words = head & 0xffff, kind = head >> 16 & 0xff,
			 domain = GT_OP_DOMAIN((uint32_t)(head >> 32));

		if (!words || words > (size_t)(end - r))
			return; /* the encoder reports the damage */
		if (kind == GT_RECORD_CALL && domain < GT_DOMAIN_COUNT) {
			w->has_calls |= !gt_domain_traits[domain].annotations;
			w->active_ns = p->now_ns;
		} else if (kind == GT_RECORD_DEVICE &&
			   words >= sizeof(struct gt_record_device) / 8) {
			w->has_activities = true;
			w->active_ns = p->now_ns;
			add_activity(p, w, r);
		} else if (kind == GT_RECORD_CLOCK) {
			gt_device_rates_note(&w->rates, &p->host, r, words);
		}
		r += words;
	}
}

void gt_progress_forget(struct gt_progress *p, const struct gt_process *process)
{
	for (size_t i = 0; p && i < p->process_count; i++)
		if (p->processes[i]->index == process->index) {
			p->finish(p, p->processes[i]);
			free_watched(p->processes[i]);
			p->processes[i] = p->processes[--p->process_count];
			return;
		}
}

void gt_progress_destroy(struct gt_progress *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->process_count; i++)
		free_watched(p->processes[i]);
	free(p->processes);
	free(p->list);
	free(p);
}
