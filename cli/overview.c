/* SPDX-License-Identifier: MIT */
#include "cli/overview.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/model/display_name.h"
#include "analysis/tables/edges.h"
#include "cli/report.h"
#include "cli/report_head.h"
#include "cli/report_idle.h"
#include "cli/report_patterns.h"
#include "cli/runtimes.h"
#include "cli/ui.h"
#include "util/error.h"

enum {
	DEVICES_MOST = 3,
	KERNELS_MOST = 5,
	COPIES_MOST = 2,
	CALLS_MOST = 5,
	CAUSES_MOST = 5,
	WAITS_MOST = 3,
	FAILURES_MOST = 2,
	REFUSALS_MOST = 1,
	EVENTS_MOST = 2,
	HUNG_MOST = 4,
	LABEL = UI_LABEL,
	EDGE_PERCENT = 1,
	BETWEEN_PERCENT = 10,
	SLOW_RECORDS = 20000000
};

/* The least busy device is reported if its busy time is at least this much below that of the
 * busiest device. */
enum { DIFFERS_PERCENT = 20 };

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Return text such as "1.39 s" with number and unit tied together, so that no line break separates
 * them. */
static const char *tie(const char *text)
{
	static _Thread_local char buffers[8][40];
	static _Thread_local unsigned next;
	char *buffer = buffers[next++ % 8];
	size_t n = 0;

	for (; *text && n + 1 < sizeof *buffers; text++)
		buffer[n++] = *text == ' ' ? *UI_TIE : *text;
	buffer[n] = '\0';
	return buffer;
}

static const char *duration(uint64_t ns)
{
	return tie(show_duration(ns));
}

/* GPUs ------------------------------------------------------------------------------- */

/* Return the denominator of "busy": the time of the whole run, or the time from the first activity
 * to the last. */
static uint64_t find_run_ns(const struct summary *s, const struct summary_track *t)
{
	uint64_t start = t->all.first_ns, end = t->all.last_ns;

	for (uint32_t i = 0; i < s->file_count && summary_has_whole_run(s); i++) {
		start = s->files[i].start_ns < start ? s->files[i].start_ns : start;
		end = s->files[i].end_ns > end ? s->files[i].end_ns : end;
	}
	return end - start > t->all.unrecorded_ns ? end - start - t->all.unrecorded_ns : 0;
}

static const char *device_kind(const struct summary *s, uint32_t device)
{
	const struct gt_object_info *object = device < gt_capture_device_count(s->capture)
						      ? gt_capture_device(s->capture, device)
						      : NULL;
	const char *type = object ? gt_object_value(object, "type") : NULL;

	return type && strcmp(type, "cpu") == 0 ? "CPU"
	       : type && strcmp(type, "gpu")    ? "Device"
						: "GPU";
}

/* Return true if gputap was attached to running processes. A thread may then have been in a call
 * that is not recorded. */
static bool is_attached(const struct gt_capture *capture)
{
	for (size_t i = 0; i < gt_capture_event_count(capture); i++)
		if (gt_capture_event(capture, i)->code == GT_EVENT_ATTACHED)
			return true;
	return false;
}

/* Describe the length of an edge and the call with the largest part of it: "3.60 s (clBuildProgram
 * 3.43 s)". @host: where the time outside of calls was spent */
static void describe_edge(const struct edge *e, bool is_after, const char *host, char *text,
			  size_t size)
{
	const uint64_t host_ns =
		e->ns > e->calls_ns + e->outside_ns ? e->ns - e->calls_ns - e->outside_ns : 0;

	if (!e->process)
		snprintf(text, size, "%s", duration(e->ns));
	else if (e->outside_ns > host_ns && e->outside_ns > e->calls_ns && is_after)
		snprintf(text, size, "%s (%.64s had ended)", duration(e->ns), e->process);
	else if (e->outside_ns > host_ns && e->outside_ns > e->calls_ns)
		snprintf(text, size, "%s (%.64s started after %s)", duration(e->ns), e->process,
			 duration(e->outside_ns));
	else if (e->call && e->calls_ns >= host_ns)
		snprintf(text, size, "%s (%s%s%s)", duration(e->ns), e->call, UI_TIE,
			 duration(e->call_ns));
	else
		snprintf(text, size, "%s (%s %s)", duration(e->ns), duration(host_ns), host);
}

/* Print edges, except those shorter than EDGE_PERCENT of the run. */
static void print_edges(const struct gt_capture *capture, const struct device_edges *edges,
			uint64_t run_ns, FILE *out)
{
	static const char host[] = "on the host, outside any call",
			  unknown[] = "outside any recorded call";
	const bool has_before = percent(edges->before.ns, run_ns) >= EDGE_PERCENT;
	const bool has_after = percent(edges->after.ns, run_ns) >= EDGE_PERCENT;
	char before[192], after[192];

	describe_edge(&edges->before, false, is_attached(capture) ? unknown : host, before,
		      sizeof before);
	describe_edge(&edges->after, true, host, after, sizeof after);
	if (has_before && has_after)
		ui_print_line(out, "", NULL, "first activity after %s; none in the last %s", before,
			      after);
	else if (has_before)
		ui_print_line(out, "", NULL, "first activity after %s", before);
	else if (has_after)
		ui_print_line(out, "", NULL, "no activity in the last %s", after);
}

static void print_device(const struct summary *s, const struct summary_track *d,
			 const struct device_edges *edges, FILE *out)
{
	const struct timeline *t = &d->all;
	const uint64_t run_ns = find_run_ns(s, d), span = timeline_span_ns(t);
	/* the gaps that the sections below add up; a gap may begin before the time range */
	const uint64_t gaps_ns = report_idle_device_ns(s, d->device),
		       idle_ns = gaps_ns ? gaps_ns : timeline_idle_ns(t),
		       steps_ns = report_idle_phase_ns(s, d->device, IDLE_PHASE_STEPS);
	char label[32], idle[400], rest[64] = "";

	snprintf(label, sizeof label, "%s %" PRIu32, device_kind(s, d->device), d->device);
	if (!summary_track_has_times(d)) {
		ui_print_line(out, label, ui_colors(out)->bold,
			      "%s %s, at times that are not known: %s", show_count(d->count),
			      d->count == 1 ? "activity" : "activities",
			      s->devices[d->device].name);
		return;
	}
	if (t->unrecorded_ns)
		snprintf(rest, sizeof rest, "; not recorded for %s more",
			 duration(t->unrecorded_ns));
	ui_print_line(out, label, ui_colors(out)->bold, "busy %s of %s%s (%.1f%%)%s: %s",
		      duration(t->busy_ns), duration(run_ns),
		      summary_has_whole_run(s) ? "" : " from its first activity to its last",
		      percent(t->busy_ns, run_ns), rest, s->devices[d->device].name);
	if (d->untimed)
		ui_print_line(out, "", ui_colors(out)->yellow,
			      "without the times of %s of %s activities, which are not known",
			      show_count(d->untimed), show_count(d->count));
	if (summary_has_whole_run(s))
		print_edges(s->capture, edges, run_ns, out);
	if (report_idle_startup(s, d, idle, sizeof idle))
		ui_print_line(out, "", NULL, "%s", idle);
	if (report_idle_line(s, d->device, span, idle, sizeof idle))
		ui_print_line(out, "", NULL, "idle %s between activities%s: %s",
			      duration(steps_ns ? steps_ns : idle_ns),
			      steps_ns ? " of the steps" : "", idle);
	else if (idle_ns)
		ui_print_line(out, "", NULL,
			      "idle %s between activities (%.1f%%), kernels %.1f%%, memcpy "
			      "%.1f%%",
			      duration(idle_ns), percent(idle_ns, span),
			      percent(d->kernels.busy_ns, span), percent(d->copies.busy_ns, span));
}

/* Return the least busy device; LOOKUP_NONE: its busy time does not differ enough, or there are
 * fewer than three devices. */
static uint32_t find_odd_device(const struct summary *s)
{
	uint32_t least = 0, most = 0;

	for (uint32_t i = 1; i < s->track_count; i++) {
		if (s->tracks[i].all.busy_ns < s->tracks[least].all.busy_ns)
			least = i;
		if (s->tracks[i].all.busy_ns > s->tracks[most].all.busy_ns)
			most = i;
	}
	if (s->track_count < 3 || s->tracks[least].all.busy_ns * 100 >
					  s->tracks[most].all.busy_ns * (100 - DIFFERS_PERCENT))
		return LOOKUP_NONE;
	return least;
}

static int print_devices(struct summary *s, struct gt_capture *capture, FILE *out)
{
	static const struct device_edges unknown;
	const uint32_t odd = find_odd_device(s);
	uint32_t shown = s->track_count < DEVICES_MOST ? s->track_count : DEVICES_MOST;
	int rc = edges_keep(s, capture);

	if (rc)
		return rc;
	if (odd != LOOKUP_NONE) {
		print_device(s, &s->tracks[odd], s->edges ? &s->edges[odd] : &unknown, out);
		ui_print_line(out, "", ui_colors(out)->yellow, "the least busy of %s devices",
			      show_count(s->track_count));
		shown--;
	}
	for (uint32_t i = 0; i < s->track_count && shown; i++) {
		if (i == odd)
			continue;
		print_device(s, &s->tracks[i], s->edges ? &s->edges[i] : &unknown, out);
		shown--;
	}
	if (s->track_count > DEVICES_MOST)
		ui_print_line(out, "", NULL, "and %s more devices: -t devices",
			      show_count(s->track_count - DEVICES_MOST));
	return 0;
}

/* Largest times ----------------------------------------------------------------------- */

struct overview_row {
	uint64_t ns, count;
	double share;
	const char *name;
	uint32_t number; /* of the name */
};

/* Treatment of names that do not fit their column. */
enum names { NAMES_FOLDED, NAMES_CUT, NAMES_FULL };

static int compare_rows(const void *a, const void *b)
{
	const struct overview_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Print lines such as "464 ms 77.0% 1,000 x 464 us name". */
static void print_rows(FILE *out, const char *label, const struct overview_row *rows, size_t count,
		       enum names shown, unsigned name_room)
{
	const unsigned used = LABEL + 40, room = ui_room(out),
		       width = name_room         ? name_room
			       : room > used + 8 ? room - used
						 : 8;
	const char *names[KERNELS_MOST + CALLS_MOST];
	char *forms[KERNELS_MOST + CALLS_MOST];

	for (size_t i = 0; i < count; i++)
		names[i] = rows[i].name;
	if (shown != NAMES_FOLDED || display_names(names, count, width, forms))
		for (size_t i = 0; i < count; i++)
			forms[i] = NULL;
	for (size_t i = 0; i < count; i++) {
		ui_print_label(out, i ? "" : label);
		fprintf(out, "%8s %5.1f%%  %9s x %-8s  ", show_duration(rows[i].ns),
			rows[i].share * 100, show_count(rows[i].count),
			show_duration(rows[i].count ? rows[i].ns / rows[i].count : 0));
		ui_put(out, forms[i] ? forms[i] : rows[i].name,
		       shown == NAMES_FULL ? UINT32_MAX : width);
		fputc('\n', out);
		free(forms[i]);
	}
}

static uint64_t total_ns(const struct summary_group *g)
{
	return g->times.total;
}

static uint64_t waited_ns(const struct summary_group *g)
{
	return g->wait.earlier_ns;
}

static int compare_names(const void *a, const void *b)
{
	const struct overview_row *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Merge rows of one name: the summary of a page has one row for each device. Return the number of
 * remaining rows. */
static size_t merge_rows(struct overview_row *rows, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(rows, count, sizeof *rows, compare_names);
	for (size_t i = 0; i < count; i++) {
		if (kept && rows[kept - 1].number == rows[i].number) {
			rows[kept - 1].ns += rows[i].ns;
			rows[kept - 1].count += rows[i].count;
		} else {
			rows[kept++] = rows[i];
		}
	}
	return kept;
}

/* Choose the groups of a class with the largest @value. Rows of 0.0 % are omitted. */
static size_t choose_rows(const struct summary *s, enum summary_class class,
			  uint64_t (*value)(const struct summary_group *g),
			  struct overview_row *rows, size_t most)
{
	const struct summary_groups *groups = &s->groups[class];
	struct overview_row *all = calloc(groups->count + 1, sizeof *all);
	uint64_t all_ns = 0;
	size_t count = 0;

	for (uint32_t i = 0; all && i < groups->count; i++) {
		const struct summary_group *g = &groups->rows[i];
		uint64_t ns = value(g);

		all_ns += ns;
		if (ns)
			all[count++] =
				(struct overview_row){ns, g->times.count, 0,
						      texts_get(&s->names, g->name), g->name};
	}
	count = merge_rows(all, count);
	if (count)
		qsort(all, count, sizeof *all, compare_rows);
	for (size_t i = 0; i < count; i++)
		all[i].share = (double)all[i].ns / (double)all_ns;
	while (count > most || (count && all[count - 1].share < 0.0005))
		count--;
	if (count)
		memcpy(rows, all, count * sizeof *rows);
	free(all);
	return count;
}

/* Print lines such as "memcpy H2D (Pageable), 2.25 MiB each, 3.95 GB/s". */
static void print_copies(const struct summary *s, FILE *out)
{
	const bool each_device = s->keys[SUMMARY_COPIES] & SUMMARY_DEVICE && s->device_count > 1;
	struct overview_row rows[COPIES_MOST];
	struct grid g;
	size_t count = 0;

	report_table(&g, REPORT_COPIES, s, GT_DOMAIN_NONE);
	for (; count < g.row_count && count < COPIES_MOST; count++) {
		const struct grid_cell *row = g.cells + count * g.column_count;
		const uint64_t number = row[grid_column(&g, "count")].count;
		const struct grid_cell *rate = &row[grid_column(&g, "bytes_per_s")];

		rows[count] = (struct overview_row){
			row[grid_column(&g, "total_ns")].count, number,
			row[grid_column(&g, "share")].real,
			grid_keep(&g, "%s%s, %s each%s%s", row[grid_column(&g, "direction")].text,
				  each_device ? grid_keep(&g, " of device %" PRIu64,
							  row[grid_column(&g, "device")].count)
					      : "",
				  show_bytes(row[grid_column(&g, "bytes")].count /
					     (number ? number : 1)),
				  rate->has ? ", " : "", rate->has ? show_rate(rate->real) : ""),
			(uint32_t)count};
		if (!rows[count].ns)
			break;
	}
	print_rows(out, "Copies", rows, count, NAMES_CUT, 0);
	grid_fini(&g);
}

static void print_kernels(const struct summary *s, const struct overview_options *o, FILE *out)
{
	struct overview_row rows[KERNELS_MOST];
	size_t count = choose_rows(s, SUMMARY_KERNELS, total_ns, rows, KERNELS_MOST);

	print_rows(out, "Kernels", rows, count, o->full_names ? NAMES_FULL : NAMES_FOLDED,
		   o->name_room);
}

static void print_calls(const struct summary *s, FILE *out)
{
	struct overview_row rows[CALLS_MOST];
	size_t count = choose_rows(s, SUMMARY_CALLS, summary_self_ns, rows, CALLS_MOST);
	bool calls_wanted, activity_wanted;

	report_was_asked(s, &calls_wanted, &activity_wanted);
	if (!calls_wanted && !s->read[GT_CLASS_CALL])
		ui_print_line(out, "Calls", NULL, "not recorded");
	print_rows(out, "Calls", rows, count, NAMES_CUT, 0);
}

/* Causes of idle time ----------------------------------------------------------------- */

static void print_causes(const struct summary *s, FILE *out)
{
	struct {
		uint32_t row;
		enum gt_idle_cause cause;
		uint64_t ns;
	} top[CAUSES_MOST + 1] = {{0, GT_IDLE_UNKNOWN, 0}};
	const bool several = s->track_count > 1;
	unsigned count = 0;
	uint64_t all_ns = 0;

	for (uint32_t i = 0; i < s->idle.row_count; i++) {
		if (s->idle.rows[i].owner.phase == IDLE_PHASE_START_UP)
			continue; /* the device's line describes it */
		for (unsigned c = 0; c < GT_IDLE_COUNT; c++) {
			uint64_t ns = s->idle.rows[i].sums[c].ns;
			unsigned at = count;

			all_ns += ns;
			for (; at && top[at - 1].ns < ns; at--)
				top[at] = top[at - 1];
			top[at].row = i;
			top[at].cause = (enum gt_idle_cause)c;
			top[at].ns = ns;
			count += count < CAUSES_MOST && ns;
		}
	}
	for (unsigned k = 0; k < count; k++) {
		const struct idle_row *row = &s->idle.rows[top[k].row];
		char mostly[400], between[400] = "", device[40] = "";

		if (percent(top[k].ns, all_ns) < 0.05)
			break;
		report_idle_mostly(s, top[k].row, top[k].cause, mostly, sizeof mostly);
		if (several)
			snprintf(device, sizeof device, " on %s %" PRIu32,
				 device_kind(s, row->owner.device), row->owner.device);
		ui_print_label(out, k ? "" : "Idle");
		fprintf(out, "%8s %5.1f%%  %9s x %-8s  ", show_duration(top[k].ns),
			percent(top[k].ns, all_ns), show_count(row->sums[top[k].cause].gaps),
			show_duration(top[k].ns / row->sums[top[k].cause].gaps));
		if (gt_idle_is_host(top[k].cause) && percent(top[k].ns, all_ns) >= BETWEEN_PERCENT)
			report_idle_between(s, top[k].row, top[k].cause, ", ", between,
					    sizeof between);
		ui_wrapf(out, LABEL + 40, LABEL + 42, "%s%s%s%s%s%s",
			 gt_idle_cause_text(top[k].cause), device, *mostly ? ": " : "", mostly,
			 *between ? "; " : "", between);
		fputc('\n', out);
	}
}

/* Waits, failures and losses --------------------------------------------------------- */

static void print_waits(const struct summary *s, FILE *out)
{
	const struct stages_wait *w = &s->wait;
	struct overview_row rows[WAITS_MOST];
	size_t count = choose_rows(s, SUMMARY_CALLS, waited_ns, rows, WAITS_MOST);
	char text[320] = "", *to = text;

	for (size_t i = 0; i < count; i++)
		to += snprintf(to, (size_t)(text + sizeof text - to), "%s%.60s%s%s", i ? ", " : "",
			       rows[i].name, UI_TIE, duration(rows[i].ns));
	if (w->earlier_ns || w->transfer_ns || w->runtime_ns)
		ui_print_line(out, "Waits", NULL,
			      "%s for earlier GPU activity%s%s%s, %s transferring, %s in the "
			      "runtime%s%s%s",
			      duration(w->earlier_ns), *text ? " (" : "", text, *text ? ")" : "",
			      duration(w->transfer_ns), duration(w->runtime_ns),
			      w->unknown_ns ? ", " : "",
			      w->unknown_ns ? duration(w->unknown_ns) : "",
			      w->unknown_ns ? " unattributed" : "");
	else if (w->unknown_ns)
		ui_print_line(out, "Waits", NULL, "%s unattributed", duration(w->unknown_ns));
}

/* Print which ranks keep others waiting at the end of the capture. */
static void print_hung(const struct summary *s, FILE *out)
{
	const struct hang_verdict *hung = &s->ranks.hung;
	const size_t most = hung->count > HUNG_MOST ? HUNG_MOST - 1 : hung->count;

	for (size_t i = 0; i < most; i++)
		ui_print_line(out, i ? "" : "Waiting", ui_colors(out)->red, "%s",
			      hung->sentences[i]);
	if (hung->count > most)
		ui_print_line(out, "", ui_colors(out)->red, "%s more; see -t ranks",
			      show_count(hung->count - most));
}

static void print_straggler(const struct summary *s, FILE *out)
{
	uint32_t row = ranks_straggler(&s->ranks);

	if (row != LOOKUP_NONE)
		ui_print_line(
			out, "Ranks", ui_colors(out)->yellow,
			"rank %" PRIu32
			" made others wait %s, as the last to arrive in %s of %s collective calls",
			s->ranks.rows[row].rank, duration(s->ranks.rows[row].caused_ns),
			show_count(s->ranks.rows[row].last),
			show_count(s->ranks.rows[row].compared));
}

/* Return true if @name can be written in an expression without quotes. */
static bool is_plain_name(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_.:/-")];
}

/* Find the range that took much longer than other ranges of its name, by at least 1 % of the
 * run. */
static bool find_odd_range(const struct summary *s, struct odd_range *odd)
{
	return odd_ranges_find(&s->odd_ranges, summary_odd_ns(s), odd);
}

static void print_odd_range(const struct summary *s, FILE *out)
{
	char where[64] = "";
	struct odd_range odd;

	if (!find_odd_range(s, &odd))
		return;
	if (s->ranks.count > 1 && s->processes[odd.process].rank != LOOKUP_NONE)
		snprintf(where, sizeof where, " of rank %" PRIu32, s->processes[odd.process].rank);
	else if (s->process_count > 1)
		snprintf(where, sizeof where, " of process %" PRIu32,
			 s->processes[odd.process].pid);
	ui_print_line(out, "Ranges", ui_colors(out)->yellow,
		      "%.80s: #%" PRIu32 "%s took %s, the median of %s is %s",
		      texts_get(&s->names, odd.name), odd.number, where, duration(odd.duration_ns),
		      show_count(odd.count), duration(odd.median_ns));
}

/* Print advice for a call that failed because @runtime has no device on this machine. */
static void print_absence(const struct runtime *runtime, FILE *out)
{
	const char *device = runtime->device_is ? strchr(runtime->device_is, ' ') : NULL;

	if (!runtime->device || !device)
		ui_print_line(out, "", NULL, "%s finds no driver; see 'gputap doctor'",
			      runtime->name);
	else if (access(runtime->device, F_OK) != 0 && runtime->software)
		ui_print_line(out, "", NULL,
			      "no%s here; to use one in software: gputap run -- gputap soft %s -- "
			      "PROGRAM",
			      device, runtime->software);
}

/* Print failures, followed by calls that a runtime refused by design, which are not errors of the
 * program. */
static void print_failures(const struct summary *s, FILE *out)
{
	const struct runtime *absent = NULL; /* runtime of the first failure with this reason */
	uint64_t failures = 0, refusals = 0;
	struct grid g;

	report_table(&g, REPORT_FAILURES, s, GT_DOMAIN_NONE);
	for (size_t r = 0; r < g.row_count; r++) {
		const struct grid_cell *row = g.cells + r * g.column_count;
		const char *error = row[grid_column(&g, "error")].text;
		bool refused = !strcmp(row[grid_column(&g, "kind")].text, "refused");

		if (refused ? refusals++ >= REFUSALS_MOST : failures++ >= FAILURES_MOST)
			continue;
		ui_print_line(out,
			      refused         ? "Refused"
			      : failures == 1 ? "Failed"
					      : "",
			      refused ? NULL : ui_colors(out)->red, "%s x %s %s",
			      show_count(row[0].count), row[g.column_count - 1].text, error);
		if (!absent)
			absent = runtime_find_absent(error);
	}
	if (failures > FAILURES_MOST)
		ui_print_line(out, "", ui_colors(out)->red, "and %s more error%s: -t failures",
			      show_count(failures - FAILURES_MOST),
			      failures - FAILURES_MOST == 1 ? "" : "s");
	if (absent && !s->device_count)
		print_absence(absent, out);
	grid_fini(&g);
}

/* Print the events about tools that a runtime refused, untraced libraries, and failed devices. */
static void print_events(const struct gt_capture *capture, FILE *out)
{
	unsigned shown = 0;

	for (size_t i = 0; i < gt_capture_event_count(capture) && shown < EVENTS_MOST; i++) {
		const struct gt_event_info *e = gt_capture_event(capture, i);

		if (e->code != GT_EVENT_FAULT && e->code != GT_EVENT_MISSING &&
		    e->code != GT_EVENT_NOT_RECORDED &&
		    ((e->code != GT_EVENT_TOOL && e->code != GT_EVENT_NOT_TRACED) ||
		     e->domain == GT_DOMAIN_NONE))
			continue;
		ui_print_line(out, shown++ ? "" : "Events", ui_colors(out)->red, "%s: %s",
			      gt_event_code_name(e->code), e->text ? e->text : "");
	}
}

/* Return true if reading the records takes several seconds. */
static bool is_slow_to_read(const struct summary *s)
{
	return !s->is_stored && !s->filter &&
	       s->read[GT_CLASS_CALL] + s->read[GT_CLASS_DEVICE] >= SLOW_RECORDS;
}

static void print_next(const struct summary *s, const struct overview_options *o, FILE *out)
{
	uint64_t idle_ns = 0, run_ns = 0;
	struct odd_range odd;
	char where[128];

	if (!o->path)
		return;
	for (uint32_t i = 0; i < s->track_count; i++) {
		idle_ns += timeline_idle_ns(&s->tracks[i].all);
		run_ns += timeline_span_ns(&s->tracks[i].all);
	}
	ui_print_line(out, "Next", ui_colors(out)->dim, "gputap report %s %s",
		      show_shell_word(o->path),
		      s->ranks.count > 1              ? "--by rank"
		      : percent(idle_ns, run_ns) > 20 ? "-t idle,gaps"
						      : "-t kernels,latency");
	if (find_odd_range(s, &odd) && is_plain_name(texts_get(&s->names, odd.name))) {
		const struct summary_process *p = &s->processes[odd.process];
		size_t n = (size_t)snprintf(where, sizeof where, "range=%.80s#%" PRIu32,
					    texts_get(&s->names, odd.name), odd.number);

		if (s->ranks.count > 1 && p->rank != LOOKUP_NONE)
			snprintf(where + n, sizeof where - n, " and rank=%" PRIu32, p->rank);
		else if (s->process_count > 1)
			snprintf(where + n, sizeof where - n, " and process=%" PRIu32, p->pid);
		ui_print_line(out, "", ui_colors(out)->dim, "gputap report %s --where '%s'",
			      show_shell_word(o->path), where);
	}
	ui_print_line(out, "", ui_colors(out)->dim, "gputap report %s --all",
		      show_shell_word(o->path));
	if (is_slow_to_read(s))
		ui_print_line(out, "", ui_colors(out)->dim,
			      "gputap report %s --store-summary  # later reports take a second",
			      show_shell_word(o->path));
	ui_print_line(out, "", ui_colors(out)->dim, "gputap export %s -o trace.pftrace",
		      show_shell_word(o->path));
}

void overview_choose_keys(struct summary *s)
{
	s->odd_ranges.wanted = s->patterns.wanted = true;
	s->keys[SUMMARY_CALLS] = s->keys[SUMMARY_RANGES] = SUMMARY_NAME;
	s->keys[SUMMARY_KERNELS] = s->keys[SUMMARY_COPIES] = SUMMARY_NAME;
	s->keys[SUMMARY_OTHER] = SUMMARY_DEVICE;
}

int overview_print(struct summary *s, struct gt_capture *capture, const struct overview_options *o,
		   FILE *out)
{
	int rc;

	print_hung(s, out);
	print_straggler(s, out);
	print_odd_range(s, out);
	rc = print_devices(s, capture, out);
	if (rc)
		return rc;
	if (s->read[GT_CLASS_CALL] || s->read[GT_CLASS_DEVICE])
		fprintf(out, "%s%*s%8s %6s  %9s x %s%s\n", ui_colors(out)->dim, LABEL, "", "time",
			"share", "count", "mean", ui_colors(out)->reset);
	print_kernels(s, o, out);
	print_copies(s, out);
	print_causes(s, out);
	report_print_patterns(s, out);
	print_calls(s, out);
	print_waits(s, out);
	print_failures(s, out);
	print_events(capture, out);
	print_next(s, o, out);
	return 0;
}
