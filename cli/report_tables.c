/* SPDX-License-Identifier: MIT */
/* Tables of a report. One function per table fills cells in the order of report_columns.c. */
#include "cli/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/info_code.h"
#include "cli/report_columns.h"
#include "cli/report_idle.h"
#include "cli/report_open.h"
#include "cli/report_patterns.h"
#include "cli/report_ranks.h"
#include "cli/report_samples.h"
#include "cli/report_stacks.h"
#include "cli/ui.h"

#define COUNT_OF(array) ((unsigned)(sizeof(array) / sizeof *(array)))

/* Cells shared by several tables --------------------------------------------------- */

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static struct grid_cell *put_times(struct grid_cell *cell, const struct histogram *h)
{
	if (!h->count) {
		for (unsigned i = 0; i < 5; i++)
			*cell++ = cell_none();
		return cell;
	}
	*cell++ = cell_count(histogram_mean(h));
	*cell++ = cell_count(histogram_percentile(h, 500));
	*cell++ = cell_count(histogram_percentile(h, 990));
	*cell++ = cell_count(h->min);
	*cell++ = cell_count(h->max);
	return cell;
}

/* Put the parts of a wait into cells. If no part is known, the cells are empty, not 0. */
static struct grid_cell *put_wait(struct grid_cell *cell, const struct stages_wait *wait)
{
	bool split = wait->earlier_ns || wait->transfer_ns || wait->runtime_ns;

	*cell++ = split ? cell_count(wait->earlier_ns) : cell_none();
	*cell++ = split ? cell_count(wait->transfer_ns) : cell_none();
	*cell++ = split ? cell_count(wait->runtime_ns) : cell_none();
	*cell++ = split || wait->unknown_ns ? cell_count(wait->unknown_ns) : cell_none();
	return cell;
}

static struct grid_cell name_cell(const struct summary *s, uint32_t name)
{
	return name == LOOKUP_NONE ? cell_none() : cell_text(texts_get(&s->names, name));
}

/* Put the number of a thread or queue, and the process, because the number alone is not
 * meaningful. */
static struct grid_cell *put_owner(struct grid_cell *cell, const struct summary *s,
				   const struct summary_group *g)
{
	uint32_t process = g->process, thread = g->thread;
	const struct summary_place *place = g->place == LOOKUP_NONE ? NULL : &s->places[g->place];

	if (process == LOOKUP_NONE && thread != LOOKUP_NONE)
		process = s->threads[thread].process;
	else if (process == LOOKUP_NONE && g->queue != LOOKUP_NONE)
		process = s->queues[g->queue].process;
	*cell++ = place && place->rank != LOOKUP_NONE ? cell_count(place->rank) : cell_none();
	*cell++ = place ? name_cell(s, place->host) : cell_none();
	*cell++ = process == LOOKUP_NONE ? cell_none() : cell_count(s->processes[process].pid);
	*cell++ = process == LOOKUP_NONE ? cell_none() : cell_text(s->processes[process].name);
	*cell++ = thread == LOOKUP_NONE ? cell_none() : cell_count(s->threads[thread].tid);
	*cell++ = thread == LOOKUP_NONE ? cell_none() : cell_text(s->threads[thread].name);
	return cell;
}

static struct grid_cell *put_device(struct grid_cell *cell, const struct summary *s,
				    const struct summary_group *g)
{
	uint32_t device = g->device == LOOKUP_NONE && g->queue != LOOKUP_NONE
				  ? s->queues[g->queue].device
				  : g->device;

	*cell++ = device == LOOKUP_NONE ? cell_none() : cell_count(device);
	*cell++ = g->queue == LOOKUP_NONE ? cell_none() : cell_count(s->queues[g->queue].ordinal);
	*cell++ = device == LOOKUP_NONE ? cell_none() : cell_text(s->devices[device].name);
	return cell;
}

static struct grid_cell *put_track(struct grid_cell *cell, const struct summary *s,
				   const struct summary_track *l)
{
	const struct summary_group owner = {.process = l->process,
					    .thread = l->thread,
					    .queue = l->queue,
					    .place = l->place};

	*cell++ = l->queue == LOOKUP_NONE ? cell_none() : cell_count(s->queues[l->queue].ordinal);
	cell = put_owner(cell, s, &owner);
	*cell++ = name_cell(s, l->name);
	return cell;
}

static struct grid_cell domain_cell(uint32_t domain)
{
	return cell_text(gt_domain_name((enum gt_domain)domain));
}

static void sort_by(struct grid *g, const char *key)
{
	grid_sort(g, (unsigned)grid_column(g, key), false);
}

/* Show a column requested with --by even if all rows have the same value. */
static void show_always(struct grid *g, const char *key)
{
	g->always |= UINT64_C(1) << grid_column(g, key);
}

/* If calls wait, show all parts of their waits, including empty columns. */
static void show_waits(struct grid *g, const struct summary *s)
{
	if (!s->wait.earlier_ns && !s->wait.transfer_ns && !s->wait.runtime_ns)
		return;
	show_always(g, "wait_ns");
	show_always(g, "transfer_ns");
	show_always(g, "runtime_ns");
}

/* Return true if all queues in the capture are CUDA streams. */
static bool has_only_streams(const struct summary *s)
{
	for (uint32_t i = 0; i < s->queue_count; i++)
		if (!gt_domain_has_streams(s->queues[i].domain))
			return false;
	return s->queue_count > 0;
}

/* Show requested queues, even if all rows have the same queue. */
static void show_tracks(struct grid *g, const struct summary *s)
{
	if (s->track_keys & SUMMARY_QUEUE)
		show_always(g, "queue");
	if (has_only_streams(s)) {
		g->retitled = grid_column(g, "queue");
		g->other_title = "stream";
	}
}

/* Tables --------------------------------------------------------------------------- */

static void make_operations(struct grid *g, const struct summary *s, enum gt_domain domain)
{
	const struct summary_groups *groups = &s->groups[SUMMARY_CALLS];
	uint64_t all = 0;
	bool waits = false, inner = false;

	for (uint32_t i = 0; i < groups->count; i++)
		all += summary_self_ns(&groups->rows[i]);
	for (uint32_t i = 0; i < groups->count; i++) {
		const struct summary_group *row = &groups->rows[i];
		struct grid_cell *cell;
		if (domain != GT_DOMAIN_NONE && row->domain != domain)
			continue;
		cell = grid_row(g);
		*cell++ = cell_count(row->times.total);
		*cell++ = cell_count(summary_self_ns(row));
		*cell++ = cell_real(share_of(summary_self_ns(row), all));
		*cell++ = cell_count(row->count);
		cell = put_times(cell, &row->times);
		cell = put_wait(cell, &row->wait);
		*cell++ = cell_count(row->failed);
		*cell++ = cell_count(row->refused);
		cell = put_owner(cell, s, row);
		*cell++ = domain_cell(row->domain);
		*cell++ = name_cell(s, row->name);
		waits |= row->wait.earlier_ns || row->wait.transfer_ns || row->wait.runtime_ns;
		inner |= row->inner_ns > all / 100;
	}
	sort_by(g, "total_ns");
	if (inner) /* shares are fractions of self times, and would look wrong next to totals */
		show_always(g, "self_ns");
	if (waits)
		show_waits(g, s);
}

/* Return the end of a process; if the end was not seen, the end of the process's last record. 0:
 * the process is not included. */
static uint64_t find_end(const struct summary *s, const struct summary_process *p)
{
	return p->end_ns ? p->end_ns : s->files[p->file].is_cut ? 0 : s->files[p->file].end_ns;
}

/* Return the total run time of the programs in all sessions, as the denominator for ranges. Ranges
 * nest, so the sum of their times is meaningless. 0: not known. */
static uint64_t wall_ns(const struct summary *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->process_count; i++)
		if (!find_end(s, &s->processes[i]))
			return 0;
	for (uint32_t i = 0; i < s->file_count; i++)
		sum += s->files[i].end_ns - s->files[i].start_ns;
	return sum;
}

static void make_ranges(struct grid *g, const struct summary *s)
{
	const struct summary_groups *groups = &s->groups[SUMMARY_RANGES];
	const uint64_t wall = wall_ns(s);

	for (uint32_t i = 0; i < groups->count; i++) {
		const struct summary_group *row = &groups->rows[i];
		struct grid_cell *cell = grid_row(g);

		*cell++ = cell_count(row->times.total);
		*cell++ = wall ? cell_real(share_of(row->times.total, wall)) : cell_none();
		*cell++ = cell_count(row->times.count);
		cell = put_times(cell, &row->times);
		*cell++ = cell_count(row->count - row->times.count);
		*cell++ = name_cell(s, row->scope);
		*cell++ = name_cell(s, row->category);
		cell = put_owner(cell, s, row);
		*cell++ = domain_cell(row->domain);
		*cell++ = name_cell(s, row->name);
	}
	sort_by(g, "total_ns");
}

/* Add rows for ranges that contain GPU activities. If no range contains any, add none. */
static void make_operators(struct grid *g, const struct summary *s)
{
	const struct gpu_by_range *o = &s->gpu_by_range;
	uint64_t all_ns = 0;

	for (uint32_t i = 0; i < o->count; i++)
		all_ns += o->rows[i].self_ns;
	for (uint32_t i = 0; o->activity && i < o->count; i++) {
		const struct gpu_by_range_row *row = &o->rows[i];
		const bool inside = row->name != LOOKUP_NONE;
		/* a range without a count does not match the filter, but its activities do */
		const bool counted = inside && row->count;
		struct grid_cell *cell;

		if (!row->all_activity)
			continue;
		cell = grid_row(g);
		*cell++ = cell_count(row->self_ns);
		*cell++ = cell_real(share_of(row->self_ns, all_ns));
		*cell++ = cell_count(row->activity);
		*cell++ = cell_count(row->all_ns);
		*cell++ = counted ? cell_count(row->count) : cell_none();
		*cell++ = counted ? cell_count(row->host_ns) : cell_none();
		*cell++ = inside ? name_cell(s, row->name) : cell_text("(in no range)");
	}
	sort_by(g, "gpu_self_ns");
}

static void make_failures(struct grid *g, const struct summary *s)
{
	for (uint32_t i = 0; i < s->failure_count; i++) {
		const struct summary_failure *f = &s->failures[i];
		const char *error = gt_status_name((enum gt_domain)f->domain, f->status);
		struct grid_cell *cell = grid_row(g);
		*cell++ = cell_count(f->count);
		*cell++ = cell_signed(f->status);
		*cell++ = cell_text(error ? error : "unknown");
		*cell++ = cell_text(f->refused ? "refused" : "failed");
		*cell++ = domain_cell(f->domain);
		*cell++ = cell_text(f->device ? "device" : "call");
		*cell++ = name_cell(s, f->name);
	}
	sort_by(g, "count");
	sort_by(g, "kind"); /* sort failures first */
}

/* Put a total. Activities without times have an empty total, not 0. */
static struct grid_cell *put_total(struct grid_cell *cell, const struct histogram *times,
				   uint64_t all_ns)
{
	*cell++ = times->count ? cell_count(times->total) : cell_none();
	*cell++ = times->count ? cell_real(share_of(times->total, all_ns)) : cell_none();
	return cell;
}

static void make_kernels(struct grid *g, const struct summary *s, enum summary_class class)
{
	const struct summary_groups *groups = &s->groups[class];
	uint64_t all = 0;

	for (uint32_t i = 0; i < groups->count; i++)
		all += groups->rows[i].times.total;
	for (uint32_t i = 0; i < groups->count; i++) {
		const struct summary_group *row = &groups->rows[i];
		struct grid_cell *cell = grid_row(g);
		cell = put_total(cell, &row->times, all);
		*cell++ = cell_count(row->count);
		cell = put_times(cell, &row->times);
		*cell++ = cell_count(row->failed);
		cell = put_device(cell, s, row);
		cell = put_owner(cell, s, row);
		*cell++ = domain_cell(row->domain);
		*cell++ = name_cell(s, row->name);
	}
	sort_by(g, "total_ns");
	if (!(s->keys[class] & SUMMARY_NAME) && s->keys[class] & (SUMMARY_DEVICE | SUMMARY_QUEUE)) {
		show_always(g, "device");
		show_always(g, "device_name");
	}
}

/* Return text such as "memcpy H2D (Pageable)", with the kind of host memory if known. */
static struct grid_cell direction_cell(struct grid *g, const struct summary *s,
				       const struct summary_group *row)
{
	static const char device[] = "Device";
	const char *name = s->keys[SUMMARY_COPIES] & SUMMARY_NAME && row->name != LOOKUP_NONE
				   ? texts_get(&s->names, row->name)
				   : "",
		   *from = strstr(name, " ("), *to = strstr(name, " -> ");
	const char *text = gt_device_op_name(row->device_op);

	if (!from || !to || from > to)
		return cell_text(text);
	from += strlen(" (");
	to += strlen(" -> ");
	if (strncmp(from, device, strlen(device)) == 0)
		return strncmp(to, device, strlen(device)) == 0
			       ? cell_text(text)
			       : cell_text(grid_keep(g, "%s (%s", text, to));
	return cell_text(grid_keep(g, "%s (%.*s)", text, (int)(to - strlen(" -> ") - from), from));
}

/* Return false for mapping, which returns an address and may move nothing, so it has no rate. */
static bool moves_bytes(enum gt_device_op op)
{
	return op != GT_DEVICE_MAP && op != GT_DEVICE_UNMAP;
}

static void make_copies(struct grid *g, const struct summary *s)
{
	const struct summary_groups *groups = &s->groups[SUMMARY_COPIES];
	uint64_t all = 0;

	for (uint32_t i = 0; i < groups->count; i++)
		all += groups->rows[i].times.total;
	for (uint32_t i = 0; i < groups->count; i++) {
		const struct summary_group *row = &groups->rows[i];
		bool rate = row->times.total && row->timed_bytes && moves_bytes(row->device_op);
		struct grid_cell *cell = grid_row(g);
		cell = put_total(cell, &row->times, all);
		*cell++ = cell_count(row->count);
		*cell++ = cell_count(row->bytes);
		*cell++ =
			rate ? cell_real((double)row->timed_bytes * 1e9 / (double)row->times.total)
			     : cell_none();
		cell = put_times(cell, &row->times);
		*cell++ = cell_count(row->failed);
		cell = put_device(cell, s, row);
		cell = put_owner(cell, s, row);
		*cell++ = domain_cell(row->domain);
		*cell++ = cell_text(gt_device_op_name(row->device_op));
		*cell++ = direction_cell(g, s, row);
	}
	sort_by(g, "total_ns");
}

static void make_graphs(struct grid *g, const struct summary *s)
{
	for (uint32_t i = 0; i < s->graphs.count; i++) {
		const struct graphs_row *row = &s->graphs.rows[i];
		bool nodes = row->activity && !row->whole && row->times.count;
		struct grid_cell *cell = grid_row(g);
		*cell++ = cell_count(row->times.total);
		*cell++ = cell_count(row->launches);
		cell = put_times(cell, &row->times);
		*cell++ = nodes ? cell_real(share_of(row->busy.busy_ns, row->times.total))
				: cell_none();
		*cell++ = nodes ? cell_count(row->busy.busy_ns) : cell_none();
		*cell++ = row->nodes ? cell_count(row->nodes) : cell_none();
		*cell++ = row->nodes ? cell_count(row->kernels) : cell_none();
		*cell++ = cell_count(row->activity);
		*cell++ = cell_text(row->whole ? "span" : "full");
		*cell++ = cell_count(s->processes[row->process].pid);
		*cell++ = cell_text(s->processes[row->process].name);
		*cell++ = cell_count(row->number);
	}
	sort_by(g, "total_ns");
}

static void make_info_code(struct grid *g, const struct summary *s, enum report_table table)
{
	struct info_code code = {.capture = s->capture,
				 .dispatches = &s->dispatches,
				 .mangled = s->mangled};

	if (table == REPORT_CODE_OBJECTS)
		info_code_objects(g, &code);
	else
		info_code_kernels(g, &code);
	g->usual_top = report_table_columns[table].usual_top;
	sort_by(g, "dispatches");
}

/* Return true if other activities may run during the idle time of these rows. */
static bool is_of_some_activity(const struct summary *s)
{
	return s->filter || s->track_keys || s->place_keys;
}

static void make_devices(struct grid *g, const struct summary *s)
{
	for (uint32_t i = 0; i < s->track_count; i++) {
		const struct summary_track *d = &s->tracks[i];
		const struct timeline *t = &d->all;
		uint64_t span = timeline_span_ns(t), idle = timeline_idle_ns(t);
		struct grid_cell *cell;
		if (!d->count)
			continue;
		cell = grid_row(g);
		*cell++ = cell_count(d->device);
		*cell++ = cell_real(share_of(t->busy_ns, span));
		*cell++ = cell_real(share_of(d->kernels.busy_ns, span));
		*cell++ = cell_real(share_of(d->copies.busy_ns, span));
		*cell++ = cell_real(share_of(idle, span));
		*cell++ = cell_real(share_of(t->starved_ns, span));
		*cell++ = cell_count(span);
		*cell++ = cell_count(t->busy_ns);
		*cell++ = cell_count(d->kernels.busy_ns);
		*cell++ = cell_count(d->copies.busy_ns);
		*cell++ = cell_count(idle);
		*cell++ = cell_count(t->unrecorded_ns);
		*cell++ = cell_count(t->starved_ns);
		*cell++ = cell_count(t->gaps.count);
		*cell++ = cell_count(histogram_percentile(&t->gaps, 500));
		*cell++ = cell_count(histogram_percentile(&t->gaps, 990));
		*cell++ = cell_count(t->gaps.max);
		*cell++ = cell_count(d->count);
		*cell++ = cell_count(d->untimed);
		*cell++ = cell_count(d->failed);
		*cell++ = domain_cell(s->devices[d->device].domain);
		*cell++ = cell_text(s->devices[d->device].name);
		cell = put_track(cell, s, d);
	}
	if (is_of_some_activity(s))
		g->heading = "Devices: activities of each row, from the first to the last";
	show_tracks(g, s);
}

/* Return the time of a gap relative to a start. Several files have no common start, so the time is
 * relative to the first file that can contain the gap. */
static uint64_t since_start(const struct summary *s, uint64_t time)
{
	uint64_t best = 0;

	for (uint32_t i = 0; i < s->file_count; i++)
		if (s->files[i].start_ns <= time && s->files[i].start_ns > best)
			best = s->files[i].start_ns;
	return time - best;
}

/* Put the calls of a pair and their lines. */
static struct grid_cell *put_pair(struct grid_cell *cell, const struct summary *s, uint32_t number)
{
	const struct idle_pair none = IDLE_NO_PAIR;
	const struct idle_pair *pair = number < s->idle.pair_count ? &s->idle.pairs[number] : &none;

	*cell++ = name_cell(s, pair->previous_call);
	*cell++ = name_cell(s, pair->previous_line);
	*cell++ = name_cell(s, pair->next_call);
	*cell++ = name_cell(s, pair->next_line);
	return cell;
}

static struct grid_cell *put_evidence(struct grid_cell *cell, const struct idle_evidence *e)
{
	*cell++ = cell_count(e->cpu_ns);
	*cell++ = cell_count(e->delay_ns);
	*cell++ = cell_count((uint64_t)(e->minor_faults + 0.5));
	*cell++ = cell_count((uint64_t)(e->major_faults + 0.5));
	*cell++ = cell_count((uint64_t)(e->voluntary + 0.5));
	*cell++ = cell_count((uint64_t)(e->involuntary + 0.5));
	return cell;
}

static void put_idle_row(struct grid *g, const struct summary *s, uint32_t number,
			 enum gt_idle_cause cause)
{
	const struct idle_row *row = &s->idle.rows[number];
	const struct summary_track owner = {.name = row->owner.name,
					    .process = row->owner.process,
					    .thread = row->owner.thread,
					    .queue = row->owner.queue,
					    .place = row->owner.place};
	const struct idle_sum *sum = &row->sums[cause];
	const struct idle_site *site = report_idle_site(s, number, cause);
	const char *wait = report_idle_wait(s, number, cause);
	struct grid_cell *cell = grid_row(g);
	char mostly[400], between[500];

	*cell++ = cell_count(sum->ns);
	*cell++ = cell_real(share_of(sum->ns, report_idle_device_ns(s, row->owner.device)));
	*cell++ = cell_count(sum->gaps);
	*cell++ = cell_count(sum->max_ns);
	*cell++ = cell_count(row->owner.device);
	cell = put_track(cell, s, &owner);
	*cell++ = row->owner.phase == IDLE_PHASE_START_UP ? cell_text("start-up")
		  : row->owner.phase == IDLE_PHASE_STEPS  ? cell_text("steps")
							  : cell_none();
	*cell++ = cell_text(gt_idle_cause_name(cause));
	*cell++ = cell_text(gt_idle_cause_text(cause));
	report_idle_mostly(s, number, cause, mostly, sizeof mostly);
	*cell++ = *mostly ? cell_text(grid_keep(g, "%s", mostly)) : cell_none();
	*cell++ = wait ? cell_text(wait) : cell_none();
	cell = put_evidence(cell, &row->evidence[cause]);
	cell = put_pair(cell, s, site ? site->pair : LOOKUP_NONE);
	*cell++ = site ? cell_count(site->ns) : cell_none();
	report_idle_between(s, number, cause, "\n", between, sizeof between);
	*cell = cell_text(grid_keep(g, "%s%s%s", *mostly || *between ? mostly : "-",
				    *mostly && *between ? "\n" : "", between));
}

static void make_idle(struct grid *g, const struct summary *s)
{
	for (uint32_t i = 0; i < s->idle.row_count; i++)
		for (unsigned c = 0; c < GT_IDLE_COUNT; c++)
			if (s->idle.rows[i].sums[c].ns)
				put_idle_row(g, s, i, (enum gt_idle_cause)c);
	sort_by(g, "idle_ns");
	report_idle_note(g, s);
	show_tracks(g, s);
}

/* Put the cause of a device's gap. With --by, the gap of a row may not be a gap of the device; @gap
 * is then NULL. */
static struct grid_cell *put_gap_cause(struct grid_cell *cell, struct grid *g,
				       const struct summary *s, const struct idle_gap *gap)
{
	const struct summary_thread *thread = NULL;
	enum gt_idle_cause cause = gap ? report_idle_gap_cause(gap) : GT_IDLE_UNKNOWN;
	const struct idle_gap_cause *most = gap ? &gap->causes[cause] : NULL;
	const bool is_held = cause == GT_IDLE_BLOCKED && most && most->name != LOOKUP_NONE;
	const char *in = NULL;

	if (most && most->op)
		in = grid_keep(g, "%s", gt_operation_name(most->op));
	else if (is_held)
		in = texts_get(&s->names, most->name);
	else if (most && most->ns && most->wait != LOOKUP_NONE)
		in = texts_get(&s->names, most->wait);
	for (uint32_t i = 0; gap && gap->ordinal && i < s->thread_count; i++)
		if (s->threads[i].process == gap->process && s->threads[i].ordinal == gap->ordinal)
			thread = &s->threads[i];
	*cell++ = gap ? cell_text(gt_idle_cause_name(cause)) : cell_none();
	*cell++ = most ? cell_count(most->ns) : cell_none();
	*cell++ = in ? cell_text(in) : cell_none();
	*cell++ = most && most->ns && !is_held ? name_cell(s, most->name) : cell_none();
	*cell++ = !gap ? cell_none()
		  : in ? cell_text(grid_keep(g, "%s: %s", gt_idle_cause_name(cause), in))
		       : cell_text(gt_idle_cause_name(cause));
	*cell++ = thread ? cell_count(thread->tid) : cell_none();
	*cell++ = thread ? cell_text(thread->name) : cell_none();
	return cell;
}

/* Put the calls between which the largest part of the gap lies. @activities: both ends of the
 * gap. */
static void put_gap_calls(struct grid_cell *cell, struct grid *g, const struct summary *s,
			  const struct idle_gap *gap, const char *activities)
{
	const enum gt_idle_cause cause = gap ? report_idle_gap_cause(gap) : GT_IDLE_UNKNOWN;
	const struct idle_gap_cause *most =
		gap && gap->causes[cause].ns ? &gap->causes[cause] : NULL;
	char between[500] = "";

	if (most)
		report_idle_pair(s, most->pair, cause, "\n", between, sizeof between);
	*cell++ = most ? name_cell(s, most->wait) : cell_none();
	cell = put_pair(cell, s, most ? most->pair : LOOKUP_NONE);
	*cell = cell_text(grid_keep(g, "%s%s%s", activities, *between ? "\n" : "", between));
}

static void make_gaps(struct grid *g, const struct summary *s)
{
	for (uint32_t i = 0; i < s->track_count; i++) {
		const struct timeline *t = &s->tracks[i].all;
		for (unsigned k = 0; k < t->largest_count; k++) {
			const struct timeline_gap *gap = &t->largest[k];
			const char *after = texts_get(&s->names, gap->before),
				   *before = texts_get(&s->names, gap->after);
			const struct idle_gap *causes =
				s->track_keys || s->place_keys
					? NULL
					: idle_find_gap(&s->idle, s->tracks[i].device, gap->start,
							gap->end);
			struct grid_cell *cell = grid_row(g);
			*cell++ = cell_count(gap->idle_ns);
			*cell++ = cell_count(gap->starved_ns);
			*cell++ = cell_count(since_start(s, gap->start));
			*cell++ = cell_count(s->tracks[i].device);
			cell = put_track(cell, s, &s->tracks[i]);
			cell = put_gap_cause(cell, g, s, causes);
			*cell++ = cell_text(after);
			*cell++ = cell_text(before);
			put_gap_calls(cell, g, s, causes, grid_keep(g, "%s .. %s", after, before));
		}
	}
	sort_by(g, "gap_ns");
	if (is_of_some_activity(s))
		g->heading = "Largest gaps between activities of the same row";
	show_tracks(g, s);
	g->selection = true;
}

/* Make the table of memory. If a call does not contain an image's size, the image is only counted.
 * For a part of a capture, the peak is not known. */
static void make_memory(struct grid *g, const struct summary *s)
{
	for (size_t i = 0; i < s->memory.sum_count; i++) {
		const struct gt_memory_sum *sum = &s->memory.sums[i];
		const bool whole = !s->memory.is_full && sum->bytes;
		struct grid_cell *cell = grid_row(g);

		*cell++ = cell_count(sum->allocations);
		*cell++ = sum->bytes ? cell_count(sum->bytes) : cell_none();
		*cell++ = cell_count(sum->frees);
		*cell++ = sum->bytes ? cell_count(sum->freed_bytes) : cell_none();
		*cell++ = whole ? cell_count(sum->peak) : cell_none();
		*cell++ = whole ? cell_count(sum->in_use) : cell_none();
		*cell++ =
			sum->device == GT_MEMORY_NO_DEVICE ? cell_none() : cell_count(sum->device);
		*cell++ = domain_cell(sum->domain);
		*cell++ = cell_text(gt_memory_name(sum->memory));
	}
	sort_by(g, "bytes");
}

static void make_latency(struct grid *g, const struct summary *s)
{
	const bool streams = has_only_streams(s);

	for (uint32_t i = 0; i < s->track_count; i++) {
		const struct summary_track *d = &s->tracks[i];
		const struct {
			const char *stage;
			const struct histogram *times;
		} stages[] = {
			{"call to start", &d->launch},
			{"through the runtime", &d->runtime},
			{streams ? "after its own stream's activities"
				 : "after its own queue's activities",
			 &d->own},
			{streams ? "after other streams' activities"
				 : "after other queues' activities",
			 &d->others},
			{"call to queued", &d->enqueue},
			{"queued to submitted", &d->submit},
			{"submitted to start", &d->wait},
		};
		for (unsigned k = 0; (d->launch.count || d->early) && k < COUNT_OF(stages); k++) {
			struct grid_cell *cell;

			if (k && !stages[k].times->count) /* the runtime lacks this stage */
				continue;
			cell = grid_row(g);
			*cell++ = cell_count(stages[k].times->count);
			cell = put_times(cell, stages[k].times);
			*cell++ = k ? cell_none() : cell_count(d->early);
			*cell++ = cell_count(d->device);
			cell = put_track(cell, s, d);
			*cell++ = cell_text(stages[k].stage);
		}
	}
	show_tracks(g, s);
}

bool report_is_replaced(struct idmap *later, uint32_t session, uint32_t pid, uint32_t ppid)
{
	uint64_t key = (uint64_t)pid << 32 | session;
	/* a process with another parent is a different process with the same pid */
	bool replaced = idmap_get(later, key) == ppid;

	idmap_put(later, key, ppid);
	return replaced;
}

const char *report_process_end(bool ended, bool proper_end, int wait_status, bool replaced)
{
	static _Thread_local char text[64];

	if (!ended)
		return "still running";
	if (wait_status < 0)
		return proper_end ? "ended" : replaced ? "exec" : "ended without exit()";
	if (WIFSIGNALED(wait_status))
		snprintf(text, sizeof text, "%s (signal %d)", strsignal(WTERMSIG(wait_status)),
			 WTERMSIG(wait_status));
	else
		snprintf(text, sizeof text, "exit %d", WEXITSTATUS(wait_status));
	return text;
}

static void make_processes(struct grid *g, const struct summary *s)
{
	bool *replaced = allocate_list(s->process_count, sizeof *replaced);
	struct idmap later = {0};

	for (uint32_t i = s->process_count; i-- > 0;)
		replaced[i] = report_is_replaced(&later, s->processes[i].file, s->processes[i].pid,
						 s->processes[i].ppid);
	idmap_fini(&later);
	for (uint32_t i = 0; i < s->process_count; i++) {
		const struct summary_process *p = &s->processes[i];
		uint64_t end = find_end(s, p);
		struct grid_cell *cell = grid_row(g);
		*cell++ = cell_count(p->pid);
		*cell++ = p->start_ns && end > p->start_ns ? cell_count(end - p->start_ns)
							   : cell_none();
		*cell++ = cell_count(p->calls);
		*cell++ = cell_count(p->call_ns);
		*cell++ = cell_count(p->device_count);
		*cell++ = cell_count(p->device_ns);
		*cell++ = cell_count(p->threads);
		*cell++ = cell_count(p->failed);
		*cell++ = cell_count(p->fork_count);
		*cell++ = cell_count(p->ppid);
		*cell++ = cell_text(
			grid_keep(g, "%s",
				  !p->ended && p->end_ns
					  ? "detached"
					  : report_process_end(p->ended, p->proper_end,
							       p->wait_status, replaced[i])));
		*cell++ = cell_text(s->files[p->file].path);
		*cell++ = cell_text(p->exe);
		*cell++ = cell_text(p->name);
	}
	free(replaced);
	sort_by(g, "call_ns");
}

static void make_threads(struct grid *g, const struct summary *s)
{
	for (uint32_t i = 0; i < s->thread_count; i++) {
		const struct summary_thread *t = &s->threads[i];
		const struct summary_process *p = &s->processes[t->process];
		uint64_t end = t->end_ns ? t->end_ns : find_end(s, p);
		struct grid_cell *cell;
		if (!t->calls && !t->device_count)
			continue;
		cell = grid_row(g);
		*cell++ = cell_count(t->tid);
		*cell++ = cell_count(t->calls);
		*cell++ = cell_count(t->call_ns);
		*cell++ = t->start_ns && end > t->start_ns
				  ? cell_real(share_of(t->call_ns, end - t->start_ns))
				  : cell_none();
		cell = put_wait(cell, &t->wait);
		*cell++ = cell_count(t->device_count);
		*cell++ = cell_count(t->device_ns);
		*cell++ = cell_count(t->failed);
		*cell++ = cell_count(p->pid);
		*cell++ = cell_text(p->name);
		*cell++ = cell_text(t->name);
	}
	sort_by(g, "call_ns");
	show_waits(g, s);
}

static void make_loss(struct grid *g, const struct summary *s)
{
	for (unsigned d = 0; d < GT_DOMAIN_COUNT; d++)
		for (unsigned c = 0; c < GT_CLASS_COUNT; c++)
			for (unsigned why = 0; why < GT_DROP_REASON_COUNT; why++) {
				uint64_t dropped = s->counts.dropped[why][c][d];
				struct grid_cell *cell;
				if (!dropped)
					continue;
				cell = grid_row(g);
				*cell++ = cell_count(dropped);
				*cell++ = cell_count(s->counts.seen[c][d]);
				*cell++ = domain_cell(d);
				*cell++ =
					cell_text(c == GT_CLASS_CALL ? "calls" : "GPU activities");
				*cell++ = cell_text(gt_drop_reason_name((enum gt_drop_reason)why));
			}
	sort_by(g, "dropped");
}

static void make_table(struct grid *g, enum report_table table, const struct summary *s,
		       enum gt_domain domain)
{
	grid_init(g, report_table_names[table], report_table_columns[table].columns,
		  report_table_columns[table].count);
	g->heading = report_table_columns[table].heading;
	g->usual_top = report_table_columns[table].usual_top;
	switch (table) {
	case REPORT_RANKS: report_make_ranks(g, s); break;
	case REPORT_RANK_SPREAD: report_make_rank_spread(g, s); break;
	case REPORT_RANK_WAITS: report_make_rank_waits(g, s); break;
	case REPORT_OPERATIONS: make_operations(g, s, domain); break;
	case REPORT_RANGES: make_ranges(g, s); break;
	case REPORT_GPU_BY_RANGE: make_operators(g, s); break;
	case REPORT_FAILURES: make_failures(g, s); break;
	case REPORT_KERNELS: make_kernels(g, s, SUMMARY_KERNELS); break;
	case REPORT_COPIES: make_copies(g, s); break;
	case REPORT_OTHER: make_kernels(g, s, SUMMARY_OTHER); break;
	case REPORT_MEMORY: make_memory(g, s); break;
	case REPORT_GRAPHS: make_graphs(g, s); break;
	case REPORT_DEVICES: make_devices(g, s); break;
	case REPORT_IDLE: make_idle(g, s); break;
	case REPORT_GAPS: make_gaps(g, s); break;
	case REPORT_PATTERNS: report_make_patterns(g, s); break;
	case REPORT_LATENCY: make_latency(g, s); break;
	case REPORT_PROCESSES: make_processes(g, s); break;
	case REPORT_THREADS: make_threads(g, s); break;
	case REPORT_OPEN: report_make_open(g, s); break;
	case REPORT_LOSS: make_loss(g, s); break;
	case REPORT_STACKS: make_launched(g, s); break;
	case REPORT_HOST_SAMPLES: make_samples(g, s); break;
	case REPORT_CODE_OBJECTS:
	case REPORT_KERNEL_SYMBOLS: /* created above */
	case REPORT_TABLE_COUNT: break;
	}
}

void report_table(struct grid *g, enum report_table table, const struct summary *s,
		  enum gt_domain domain)
{
	if (table == REPORT_CODE_OBJECTS || table == REPORT_KERNEL_SYMBOLS)
		make_info_code(g, s, table);
	else
		make_table(g, table, s, domain);
	if (table != REPORT_LOSS && summary_holds_for_nothing(s))
		g->row_count = 0; /* rows of processes and threads would only contain zeros */
}
