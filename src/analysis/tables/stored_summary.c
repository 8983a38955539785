/* SPDX-License-Identifier: MIT */
/* The content of a stored summary, field by field. Each function here both packs and unpacks.
 * Numbers of names, threads, devices and queues are the indexes of the lists, which come in their
 * original order; sessions and processes come from the capture.
 *
 * Missing, because no table that is made from a stored summary shows them: largest gaps, graphs,
 * memory, time of GPU activities by range, calls of ranks, call stacks, dispatches, unrecorded
 * spans, and everything that only reading needs. */
#include "analysis/tables/stored_summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/guard_memory.h"
#include "analysis/base/pack.h"
#include "analysis/tables/edges.h"
#include "analysis/tables/retained.h"
#include "analysis/tables/summary_steps.h"
#include "capture/format.h"
#include "capture/summary_block.h"
#include "util/error.h"

/* Smallest packed size of a list's elements: a byte for each field. */
enum {
	NAME_BYTES = 2,
	DEVICE_BYTES = 1,
	QUEUE_BYTES = 6,
	THREAD_BYTES = 11,
	GROUP_BYTES = 20,
	TRACK_BYTES = 40,
	FAILURE_BYTES = 6,
	PATTERN_BYTES = 20,
	IDLE_ROW_BYTES = 5 + GT_IDLE_COUNT,
	DETAIL_BYTES = 6,
	PAIR_BYTES = 4,
	SITE_BYTES = 5,
	PLACE_BYTES = 4,
};

struct storing {
	struct pack p;
	struct summary *s;
	struct summary_reading r; /* for unpacking */
};

static bool is_reading(const struct storing *k)
{
	return pack_is_reading(&k->p);
}

/* Pack the count of a list, and when unpacking, create the list. */
static void *begin_list(struct storing *k, void *list, uint32_t *count, size_t least_bytes,
			size_t each)
{
	pack_count(&k->p, count, least_bytes);
	return is_reading(k) ? allocate_list(*count, each) : list;
}

static void pack_name(struct storing *k, uint32_t *name)
{
	pack_number(&k->p, name, k->s->names.count, true);
}

/* Pack the number of a device that has a name. */
static void pack_device(struct storing *k, uint32_t *device, bool or_none)
{
	pack_number(&k->p, device, k->s->device_count, or_none);
	if (is_reading(k) && !k->p.wrong && *device != LOOKUP_NONE && !k->s->devices[*device].name)
		k->p.wrong = true;
}

static void pack_domain(struct storing *k, uint32_t *domain)
{
	pack_number(&k->p, domain, GT_DOMAIN_COUNT, false);
}

/* Histograms ------------------------------------------------------------------ */

static void pack_values(struct storing *k, struct histogram *h)
{
	uint32_t room = 1;

	while (room < h->count)
		room *= 2;
	if (is_reading(k))
		h->values = allocate_list(room, sizeof *h->values);
	for (uint64_t i = 0; i < h->count; i++)
		pack_u64(&k->p, &h->values[i]);
}

/* Pack the octaves that exist: number of the octave plus 1, and its counts; 0 ends the list. */
static void pack_octaves(struct storing *k, struct histogram *h)
{
	uint64_t sum = 0;
	uint32_t next = 0, number = 0;

	if (is_reading(k))
		h->octaves = allocate_list(HISTOGRAM_OCTAVES, sizeof *h->octaves);
	do {
		while (!is_reading(k) && next < HISTOGRAM_OCTAVES && !h->octaves[next])
			next++;
		number = next < HISTOGRAM_OCTAVES ? next + 1 : 0;
		pack_number(&k->p, &number, HISTOGRAM_OCTAVES + 1, false);
		if (!number || k->p.wrong || number <= next)
			break;
		next = number;
		if (is_reading(k))
			h->octaves[number - 1] =
				allocate_list(HISTOGRAM_STEPS, sizeof **h->octaves);
		for (unsigned step = 0; step < HISTOGRAM_STEPS; step++) {
			pack_u64(&k->p, &h->octaves[number - 1][step]);
			sum += h->octaves[number - 1][step];
		}
	} while (!k->p.wrong);
	k->p.wrong |= number || sum != h->count;
}

static void pack_histogram(struct storing *k, struct histogram *h)
{
	pack_u64(&k->p, &h->count);
	if (!h->count)
		return;
	pack_u64(&k->p, &h->total);
	pack_u64(&k->p, &h->min);
	pack_u64(&k->p, &h->max);
	if (h->count <= HISTOGRAM_EXACT)
		pack_values(k, h);
	else
		pack_octaves(k, h);
}

/* Objects ----------------------------------------------------------------------- */

/* Unpacked names get the numbers that they had, because the list of names is empty before. */
static void pack_names(struct storing *k)
{
	struct texts *names = &k->s->names;
	uint32_t count = names->count;

	pack_count(&k->p, &count, NAME_BYTES);
	for (uint32_t i = 0; i < count && !k->p.wrong; i++) {
		const char *text = texts_get(names, i);

		pack_text(&k->p, &text);
		if (is_reading(k) && !k->p.wrong)
			k->p.wrong = texts_put(names, text) != i;
	}
}

static void pack_devices(struct storing *k)
{
	struct summary *s = k->s;

	s->devices = begin_list(k, s->devices, &s->device_count, DEVICE_BYTES, sizeof *s->devices);
	if (s->device_count > gt_capture_device_count(s->capture) + 1)
		k->p.wrong = true;
	for (uint32_t i = 0; i < s->device_count && !k->p.wrong; i++) {
		struct summary_device *d = &s->devices[i];
		uint32_t name = d->name ? d->name_id : LOOKUP_NONE, domain = d->domain;

		pack_name(k, &name);
		if (name == LOOKUP_NONE)
			continue;
		pack_domain(k, &domain);
		*d = (struct summary_device){texts_get(&s->names, name), name,
					     (enum gt_domain)domain};
	}
}

static void pack_queues(struct storing *k)
{
	struct summary *s = k->s;

	s->queues = begin_list(k, s->queues, &s->queue_count, QUEUE_BYTES, sizeof *s->queues);
	s->queue_room = s->queue_count;
	for (uint32_t i = 0; i < s->queue_count && !k->p.wrong; i++) {
		struct summary_queue *q = &s->queues[i];
		uint32_t domain = q->domain;

		pack_device(k, &q->device, false);
		pack_number(&k->p, &q->process, s->process_count, false);
		pack_u32(&k->p, &q->ordinal);
		pack_u64(&k->p, &q->handle);
		pack_domain(k, &domain);
		q->domain = (enum gt_domain)domain;
		pack_bool(&k->p, &q->untimed);
	}
}

static void pack_wait(struct storing *k, struct stages_wait *wait)
{
	pack_u64(&k->p, &wait->transfer_ns);
	pack_u64(&k->p, &wait->earlier_ns);
	pack_u64(&k->p, &wait->runtime_ns);
	pack_u64(&k->p, &wait->unknown_ns);
}

static void pack_threads(struct storing *k)
{
	struct summary *s = k->s;
	uint32_t count = s->thread_count;

	pack_count(&k->p, &count, THREAD_BYTES);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t process = is_reading(k) ? 0 : s->threads[i].process;
		uint32_t ordinal = is_reading(k) ? 0 : s->threads[i].ordinal;
		struct summary_thread *t;
		uint32_t number = i;

		pack_number(&k->p, &process, s->process_count, false);
		pack_u32(&k->p, &ordinal);
		if (k->p.wrong)
			return;
		if (is_reading(k))
			number = summary_add_thread(&k->r, process, ordinal);
		t = &s->threads[number];
		pack_u64(&k->p, &t->calls);
		pack_u64(&k->p, &t->call_ns);
		pack_u64(&k->p, &t->device_count);
		pack_u64(&k->p, &t->device_ns);
		pack_u64(&k->p, &t->failed);
		pack_wait(k, &t->wait);
	}
}

/* Pack sums of the sessions and processes, which the capture itself lists. */
static void pack_processes(struct storing *k)
{
	struct summary *s = k->s;
	uint32_t files = s->file_count, processes = s->process_count, ranks = s->ranks.count;

	pack_u32(&k->p, &files);
	pack_u32(&k->p, &processes);
	pack_u32(&k->p, &ranks);
	k->p.wrong |=
		files != s->file_count || processes != s->process_count || ranks != s->ranks.count;
	for (uint32_t i = 0; i < s->file_count && !k->p.wrong; i++) {
		pack_u64(&k->p, &s->files[i].end_ns);
		pack_u64(&k->p, &s->files[i].records);
	}
	for (uint32_t i = 0; i < s->process_count && !k->p.wrong; i++) {
		struct summary_process *p = &s->processes[i];

		pack_u64(&k->p, &p->calls);
		pack_u64(&k->p, &p->call_ns);
		pack_u64(&k->p, &p->device_count);
		pack_u64(&k->p, &p->device_ns);
		pack_u64(&k->p, &p->failed);
	}
	for (uint32_t i = 0; i < s->ranks.count && !k->p.wrong; i++) {
		pack_u64(&k->p, &s->ranks.rows[i].caused_ns);
		pack_u64(&k->p, &s->ranks.rows[i].last);
		pack_u64(&k->p, &s->ranks.rows[i].compared);
	}
}

/* Rows -------------------------------------------------------------------------- */

static void pack_group(struct storing *k, struct summary_group *g)
{
	uint32_t device_op = g->device_op, kind = g->kind;

	pack_domain(k, &g->domain);
	pack_name(k, &g->name);
	pack_device(k, &g->device, true);
	pack_name(k, &g->scope);
	pack_name(k, &g->category);
	pack_number(&k->p, &device_op, GT_DEVICE_OP_COUNT, false);
	pack_number(&k->p, &kind, GT_KIND_COUNT, false);
	pack_histogram(k, &g->times);
	pack_u64(&k->p, &g->count);
	pack_u64(&k->p, &g->failed);
	pack_u64(&k->p, &g->refused);
	pack_u64(&k->p, &g->bytes);
	pack_u64(&k->p, &g->timed_bytes);
	pack_u64(&k->p, &g->inner_ns);
	pack_wait(k, &g->wait);
	g->device_op = (enum gt_device_op)device_op;
	g->kind = (enum gt_operation_kind)kind;
	g->process = g->thread = g->queue = g->place = LOOKUP_NONE;
}

static void pack_groups(struct storing *k, struct summary_groups *groups)
{
	groups->rows =
		begin_list(k, groups->rows, &groups->count, GROUP_BYTES, sizeof *groups->rows);
	groups->room = is_reading(k) ? groups->count : groups->room;
	for (uint32_t i = 0; i < groups->count && !k->p.wrong; i++)
		pack_group(k, &groups->rows[i]);
}

static void pack_timeline(struct storing *k, struct timeline *t)
{
	pack_u64(&k->p, &t->first_ns);
	pack_u64(&k->p, &t->last_ns);
	pack_u64(&k->p, &t->busy_ns);
	pack_u64(&k->p, &t->unrecorded_ns);
	pack_u64(&k->p, &t->starved_ns);
	pack_histogram(k, &t->gaps);
}

static void pack_track(struct storing *k, struct summary_track *t)
{
	pack_device(k, &t->device, false);
	pack_u64(&k->p, &t->count);
	pack_u64(&k->p, &t->untimed);
	pack_u64(&k->p, &t->failed);
	pack_u64(&k->p, &t->early);
	pack_timeline(k, &t->all);
	pack_timeline(k, &t->kernels);
	pack_timeline(k, &t->copies);
	pack_histogram(k, &t->launch);
	pack_histogram(k, &t->enqueue);
	pack_histogram(k, &t->submit);
	pack_histogram(k, &t->wait);
	pack_histogram(k, &t->own);
	pack_histogram(k, &t->others);
	pack_histogram(k, &t->runtime);
	t->name = t->process = t->thread = t->queue = t->place = LOOKUP_NONE;
}

/* Tracks are large in memory, but there is only one for each device. */
static void pack_tracks(struct storing *k)
{
	struct summary *s = k->s;
	uint32_t count = s->track_count;

	pack_count(&k->p, &count, TRACK_BYTES);
	k->p.wrong |= count > s->device_count;
	if (k->p.wrong)
		return;
	if (is_reading(k))
		s->tracks = allocate_list(count, sizeof *s->tracks);
	s->track_count = count;
	for (uint32_t i = 0; i < count && !k->p.wrong; i++)
		pack_track(k, &s->tracks[i]);
	s->track_room = is_reading(k) ? count : s->track_room;
}

static void pack_failures(struct storing *k)
{
	struct summary *s = k->s;

	s->failures =
		begin_list(k, s->failures, &s->failure_count, FAILURE_BYTES, sizeof *s->failures);
	s->failure_room = is_reading(k) ? s->failure_count : s->failure_room;
	for (uint32_t i = 0; i < s->failure_count && !k->p.wrong; i++) {
		struct summary_failure *f = &s->failures[i];
		uint32_t status = (uint32_t)f->status;

		pack_domain(k, &f->domain);
		pack_name(k, &f->name);
		pack_u32(&k->p, &status);
		f->status = (int32_t)status;
		pack_bool(&k->p, &f->device);
		pack_bool(&k->p, &f->refused);
		pack_u64(&k->p, &f->count);
	}
}

/* Idle time --------------------------------------------------------------------- */

static void pack_idle_sum(struct storing *k, struct idle_sum *sum)
{
	pack_u64(&k->p, &sum->ns);
	pack_u64(&k->p, &sum->max_ns);
	pack_u64(&k->p, &sum->gaps);
	k->p.wrong |= sum->ns && !sum->gaps; /* reports divide by the number */
}

static void pack_real(struct storing *k, double *value)
{
	uint64_t number = is_reading(k) ? 0 : (uint64_t)(*value + 0.5);

	pack_u64(&k->p, &number);
	*value = is_reading(k) ? (double)number : *value;
}

/* Pack the sum of a cause. Most rows have few causes. */
static void pack_cause(struct storing *k, struct idle_row *row, unsigned cause)
{
	struct idle_evidence *e = &row->evidence[cause];
	bool some = row->sums[cause].gaps;

	pack_bool(&k->p, &some);
	if (!some)
		return;
	pack_idle_sum(k, &row->sums[cause]);
	pack_u64(&k->p, &e->cpu_ns);
	pack_u64(&k->p, &e->delay_ns);
	pack_real(k, &e->minor_faults);
	pack_real(k, &e->major_faults);
	pack_real(k, &e->voluntary);
	pack_real(k, &e->involuntary);
}

static void pack_idle_rows(struct storing *k)
{
	struct idle *idle = &k->s->idle;

	idle->rows =
		begin_list(k, idle->rows, &idle->row_count, IDLE_ROW_BYTES, sizeof *idle->rows);
	for (uint32_t i = 0; i < idle->row_count && !k->p.wrong; i++) {
		struct idle_row *row = &idle->rows[i];

		pack_device(k, &row->owner.device, false);
		pack_number(&k->p, &row->owner.phase, IDLE_PHASE_STEPS + 1, false);
		row->owner = (struct idle_owner){row->owner.device, LOOKUP_NONE, LOOKUP_NONE,
						 LOOKUP_NONE,       LOOKUP_NONE, LOOKUP_NONE,
						 row->owner.phase};
		pack_u64(&k->p, &row->all.ns);
		pack_u64(&k->p, &row->all.max_ns);
		pack_u64(&k->p, &row->all.gaps);
		for (unsigned c = 0; c < GT_IDLE_COUNT; c++)
			pack_cause(k, row, c);
	}
}

/* Pack the details. Operations are packed as texts, because some operations get their numbers only
 * while records are read. */
static void pack_details(struct storing *k)
{
	struct idle *idle = &k->s->idle;

	idle->details = begin_list(k, idle->details, &idle->detail_count, DETAIL_BYTES,
				   sizeof *idle->details);
	for (uint32_t i = 0; i < idle->detail_count && !k->p.wrong; i++) {
		struct idle_detail *d = &idle->details[i];
		bool is_call = d->op != 0;
		const char *text = is_call ? gt_operation_name(d->op) : "";

		pack_number(&k->p, &d->row, idle->row_count, false);
		pack_number(&k->p, &d->cause, GT_IDLE_COUNT, false);
		pack_name(k, &d->wait);
		pack_u64(&k->p, &d->ns);
		pack_bool(&k->p, &is_call);
		if (!is_call)
			pack_name(k, &d->name);
		else
			pack_text(&k->p, &text);
		if (is_call && is_reading(k))
			d->name = summary_intern(k->s, text);
	}
}

static void pack_sites(struct storing *k)
{
	struct idle *idle = &k->s->idle;

	idle->pairs =
		begin_list(k, idle->pairs, &idle->pair_count, PAIR_BYTES, sizeof *idle->pairs);
	for (uint32_t i = 0; i < idle->pair_count && !k->p.wrong; i++) {
		struct idle_pair *pair = &idle->pairs[i];

		pack_name(k, &pair->previous_call);
		pack_name(k, &pair->previous_line);
		pack_name(k, &pair->next_call);
		pack_name(k, &pair->next_line);
	}
	idle->sites =
		begin_list(k, idle->sites, &idle->site_count, SITE_BYTES, sizeof *idle->sites);
	for (uint32_t i = 0; i < idle->site_count && !k->p.wrong; i++) {
		struct idle_site *site = &idle->sites[i];

		pack_number(&k->p, &site->row, idle->row_count, false);
		pack_number(&k->p, &site->cause, GT_IDLE_COUNT, false);
		pack_number(&k->p, &site->pair, idle->pair_count, false);
		pack_u32(&k->p, &site->gaps);
		pack_u64(&k->p, &site->ns);
	}
}

static void pack_places(struct storing *k)
{
	struct idle *idle = &k->s->idle;

	idle->places =
		begin_list(k, idle->places, &idle->place_count, PLACE_BYTES, sizeof *idle->places);
	for (uint32_t i = 0; i < idle->place_count && !k->p.wrong; i++) {
		struct idle_place *place = &idle->places[i];

		pack_number(&k->p, &place->row, idle->row_count, false);
		pack_number(&k->p, &place->cause, GT_IDLE_COUNT, false);
		pack_name(k, &place->line);
		pack_u64(&k->p, &place->ns);
	}
}

static void pack_idle(struct storing *k)
{
	struct idle *idle = &k->s->idle;
	bool some = idle->unrecorded_ns;

	pack_idle_rows(k);
	pack_details(k);
	pack_sites(k);
	pack_places(k);
	pack_bool(&k->p, &some);
	if (!some)
		return;
	idle->unrecorded_ns = begin_list(k, idle->unrecorded_ns, &idle->device_count, 1,
					 sizeof *idle->unrecorded_ns);
	for (uint32_t i = 0; i < idle->device_count; i++)
		pack_u64(&k->p, &idle->unrecorded_ns[i]);
}

/* The rest ------------------------------------------------------------------------ */

/* Pack a text, or NULL, that is kept among the summary's names. */
static void pack_kept_text(struct storing *k, const char **text)
{
	const char *packed = *text;
	bool some = *text;

	pack_bool(&k->p, &some);
	if (!some)
		return;
	pack_text(&k->p, &packed);
	if (is_reading(k))
		*text = texts_get(&k->s->names, summary_intern(k->s, packed));
}

static void pack_edge(struct storing *k, struct edge *e)
{
	pack_u64(&k->p, &e->ns);
	pack_u64(&k->p, &e->outside_ns);
	pack_u64(&k->p, &e->calls_ns);
	pack_u64(&k->p, &e->call_ns);
	pack_kept_text(k, &e->call);
	pack_kept_text(k, &e->process);
}

static void pack_edges(struct storing *k)
{
	struct summary *s = k->s;
	bool some = s->edges;

	pack_bool(&k->p, &some);
	if (!some || k->p.wrong)
		return;
	if (is_reading(k))
		s->edges = allocate_list(s->track_count, sizeof *s->edges);
	for (uint32_t i = 0; i < s->track_count && !k->p.wrong; i++) {
		pack_edge(k, &s->edges[i].before);
		pack_edge(k, &s->edges[i].after);
	}
}

/* Pack the range that the first screen names, instead of all ranges. */
static void pack_period(struct storing *k, struct period *period)
{
	pack_u32(&k->p, &period->length);
	if (!period->length)
		return;
	pack_u32(&k->p, &period->steps);
	pack_u32(&k->p, &period->kernels);
	pack_u64(&k->p, &period->median_ns);
	pack_u64(&k->p, &period->low_ns);
	pack_u64(&k->p, &period->high_ns);
	pack_u64(&k->p, &period->from_ns);
	pack_u64(&k->p, &period->to_ns);
	pack_u64(&k->p, &period->third_ns);
}

static void pack_patterns(struct storing *k)
{
	struct patterns *p = &k->s->patterns;

	p->list = begin_list(k, p->list, &p->count, PATTERN_BYTES, sizeof *p->list);
	for (uint32_t i = 0; i < p->count && !k->p.wrong; i++) {
		struct pattern *one = &p->list[i];
		uint32_t kind = one->kind;

		pack_number(&k->p, &kind, PATTERN_COUNT, false);
		one->kind = (enum pattern_kind)kind;
		pack_number(&k->p, &one->process, k->s->process_count, true);
		pack_u32(&k->p, &one->ordinal);
		pack_number(&k->p, &one->device, k->s->device_count, true);
		pack_u32(&k->p, &one->op);
		pack_u32(&k->p, &one->then);
		pack_name(k, &one->line);
		pack_u64(&k->p, &one->count);
		pack_u64(&k->p, &one->ns);
		pack_u64(&k->p, &one->idle_ns);
		pack_u64(&k->p, &one->bytes);
		pack_u64(&k->p, &one->span_ns);
		pack_u64(&k->p, &one->of);
		pack_u64(&k->p, &one->each_ns);
		pack_period(k, &one->period);
	}
}

static void pack_first_steps(struct storing *k)
{
	struct summary *s = k->s;
	bool some = s->first_steps;

	pack_bool(&k->p, &some);
	if (some && is_reading(k))
		s->first_steps = allocate_list(s->device_count, sizeof *s->first_steps);
	for (uint32_t i = 0; some && i < s->device_count; i++)
		pack_u64(&k->p, &s->first_steps[i]);
}

static void pack_odd_range(struct storing *k)
{
	struct summary *s = k->s;
	struct odd_range odd = {0};

	if (!is_reading(k))
		odd_ranges_find(&s->odd_ranges, summary_odd_ns(s), &odd);
	pack_u32(&k->p, &odd.count);
	if (odd.count) {
		pack_number(&k->p, &odd.name, s->names.count, false);
		pack_number(&k->p, &odd.process, s->process_count, false);
		pack_u32(&k->p, &odd.number);
		pack_u64(&k->p, &odd.duration_ns);
		pack_u64(&k->p, &odd.median_ns);
	}
	if (is_reading(k)) {
		s->odd_ranges.is_known = true;
		s->odd_ranges.known = odd;
	}
}

static void pack_totals(struct storing *k)
{
	struct summary *s = k->s;

	for (unsigned c = 0; c < GT_CLASS_COUNT; c++)
		pack_u64(&k->p, &s->read[c]);
	pack_u64(&k->p, &s->read_ranges);
	pack_u64(&k->p, &s->matched);
	pack_u64(&k->p, &s->matched_ranges);
	pack_u64(&k->p, &s->linked.activity);
	pack_u64(&k->p, &s->linked.lost);
	for (unsigned kind = 0; kind < GT_KIND_COUNT; kind++)
		pack_u64(&k->p, &s->kind_ns[kind]);
	pack_wait(k, &s->wait);
}

/* Pack everything that refers to names, sessions and processes. */
static void pack_summary(struct storing *k)
{
	struct summary *s = k->s;

	pack_processes(k);
	pack_devices(k);
	pack_queues(k);
	pack_threads(k);
	for (unsigned c = 0; c < SUMMARY_CLASS_COUNT; c++)
		pack_groups(k, &s->groups[c]);
	pack_tracks(k);
	pack_failures(k);
	pack_odd_range(k);
	pack_idle(k);
	pack_patterns(k);
	pack_first_steps(k);
	pack_edges(k);
	pack_totals(k);
}

void stored_summary_choose_keys(struct summary *s)
{
	s->odd_ranges.wanted = s->patterns.wanted = true;
	s->keys[SUMMARY_CALLS] = s->keys[SUMMARY_RANGES] = SUMMARY_NAME;
	s->keys[SUMMARY_KERNELS] = s->keys[SUMMARY_COPIES] = SUMMARY_NAME | SUMMARY_DEVICE;
	s->keys[SUMMARY_OTHER] = SUMMARY_DEVICE;
}

int stored_summary_write(struct summary *s, struct gt_capture *capture)
{
	struct storing k = {.p = {.used_most = GT_FILE_SUMMARY_MAX}, .s = s};
	int rc = edges_keep(s, capture);

	if (rc)
		return rc;
	pack_names(&k);
	pack_summary(&k);
	rc = k.p.wrong ? gt_error(-EFBIG, "the summary is too large to store")
		       : gt_capture_store_summary(capture, STORED_SUMMARY_VERSION, k.p.bytes,
						  k.p.used);
	free(k.p.bytes);
	return rc;
}

/* Unpack into an empty summary. */
static bool unpack_summary(struct storing *k)
{
	struct summary *s = k->s;
	const struct gt_capture *capture = s->capture;

	pack_names(k);
	if (k->p.wrong)
		return false;
	s->is_part = retained_is_part(capture);
	s->no_idle |= s->is_part;
	summary_add_sessions(&k->r);
	summary_add_processes(&k->r);
	pack_summary(k);
	if (k->p.wrong || k->p.from != k->p.end)
		return false;
	summary_count_untraced(&k->r);
	for (uint32_t i = 0; i < s->file_count; i++)
		s->files[i].health = gt_capture_session_at(capture, i)->health;
	s->health = *gt_capture_health(capture);
	return true;
}

bool stored_summary_read(struct summary *s, const struct gt_capture *capture)
{
	const struct summary asked = *s;
	struct storing k = {.s = s, .r = {.s = s, .capture = capture, .last_thread = LOOKUP_NONE}};
	size_t bytes, open_count;
	const uint8_t *content = gt_capture_summary(capture, STORED_SUMMARY_VERSION, &bytes);

	/* open calls can show which ranks keep others waiting, which takes their other calls */
	gt_capture_open_calls(capture, &open_count);
	if (!content || (open_count && gt_capture_process_count(capture) > 1))
		return false;
	k.p.from = content;
	k.p.end = content + bytes;
	stored_summary_choose_keys(s);
	s->capture = s->memory.capture = capture;
	s->idle.capture = s->ranks.capture = capture;
	s->idle.names = &s->names;
	if (unpack_summary(&k))
		return true;
	summary_fini(s);
	*s = asked;
	return false;
}
