/* SPDX-License-Identifier: MIT */
/* The end of `gputap run`: at most twenty lines that answer "where did the time go". */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/losses.h"
#include "cli/report.h"
#include "cli/report_idle.h"
#include "cli/runtimes.h"
#include "cli/selection.h"
#include "cli/ui.h"
#include "util/error.h"

enum {
	KINDS_MOST = 4,
	OPERATIONS_MOST = 3,
	KERNELS_MOST = 4,
	COPIES_MOST = 3,
	DEVICES_MOST = 3,
	FAILURES_MOST = 2,
	REFUSALS_MOST = 1,
	EVENTS_MOST = 3,
	LABEL = 9
};

enum { BEHIND_LABEL = 2 + LABEL };

static void print_label(FILE *out, const char *text)
{
	const struct ui_colors *c = ui_colors(out);
	fprintf(out, "  %s%-*s%s", c->cyan, LABEL, text, c->reset);
}

/* A line of its own: a label and sentences, in @color if that is not NULL. */
__attribute__((format(printf, 4, 5))) static void print_line(FILE *out, const char *name,
							     const char *color, const char *format,
							     ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	print_label(out, name);
	fputs(color ? color : "", out);
	ui_wrap(out, BEHIND_LABEL, BEHIND_LABEL, text ? text : "");
	fprintf(out, "%s\n", color ? ui_colors(out)->reset : "");
	free(text);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Columns left for a name when @used are taken. */
static unsigned room_for_name(FILE *out, unsigned used)
{
	unsigned columns = ui_room(out);
	return columns > used + 10 ? columns - used : 10;
}

/* @text, which lives in a buffer of ui.c's, with its spaces tied. */
static const char *tie_spaces(const char *text)
{
	static char buffer[32];
	size_t n = 0;

	for (; *text && n + 1 < sizeof buffer; text++)
		buffer[n++] = *text == ' ' ? *UI_TIE : *text;
	buffer[n] = '\0';
	return buffer;
}

/* Operations of a kind, the longest in all first, without the calls inside them. Return: how
 * many. */
static unsigned find_longest(const struct summary *s, enum gt_operation_kind kind,
			     const struct summary_group *longest[OPERATIONS_MOST])
{
	const struct summary_groups *groups = &s->groups[SUMMARY_CALLS];
	uint64_t below = UINT64_MAX;

	for (unsigned k = 0; k < OPERATIONS_MOST; k++) {
		longest[k] = NULL;
		for (uint32_t i = 0; i < groups->count; i++) {
			const struct summary_group *g = &groups->rows[i];
			uint64_t ns = g->kind == kind ? summary_self_ns(g) : 0;

			if (ns && ns < below && (!longest[k] || ns > summary_self_ns(longest[k])))
				longest[k] = g;
		}
		if (!longest[k])
			return k;
		below = summary_self_ns(longest[k]);
	}
	return OPERATIONS_MOST;
}

/* The calls of one kind: "waiting  812 ms  66%  clFinish 600 ms, clWaitForEvents 212 ms" */
static void print_kind(const struct summary *s, enum gt_operation_kind kind, uint64_t all_ns,
		       FILE *out)
{
	const struct summary_group *longest[OPERATIONS_MOST];
	unsigned count = find_longest(s, kind, longest), at = BEHIND_LABEL + 32, indent = at + 1;

	fprintf(out, "%-15s %8s %5.1f%% ", gt_operation_kind_name(kind),
		ui_duration(s->kind_ns[kind]), percent(s->kind_ns[kind], all_ns));
	for (unsigned k = 0; k < count; k++)
		at = ui_wrapf(out, at, indent, " %s" UI_TIE "%s%s",
			      texts_get(&s->names, longest[k]->name),
			      tie_spaces(ui_duration(summary_self_ns(longest[k]))),
			      k + 1 < count ? "," : "");
	fputc('\n', out);
}

/* What was asked for, if not all, and what of it met nothing. */
static void print_selection(const struct summary *s, const struct gt_capture *capture, FILE *out)
{
	const struct ui_colors *c = ui_colors(out);
	char text[SELECTION_LINE];
	struct capture_selection selection;

	selection_read(gt_capture_session(capture)->options, &selection);
	if (selection_describe(&selection, text, sizeof text))
		print_line(out, "recorded", c->yellow, "%s", text);
	if (selection_unmet(&selection, s, text, sizeof text))
		print_line(out, "warning", c->yellow, "nothing met %s", text);
}

/* Processes that a signal killed in a call. */
static void print_deaths(const struct gt_capture *capture, FILE *out)
{
	for (uint32_t p = 0; p < gt_capture_process_count(capture); p++) {
		char text[SELECTION_LINE];

		if (report_death(capture, p, text, sizeof text))
			print_line(out, "died", ui_colors(out)->red, "%s", text);
	}
}

static void print_calls(const struct summary *s, const struct gt_capture *capture, FILE *out)
{
	bool done[GT_KIND_COUNT] = {false};
	struct capture_selection selection;
	uint64_t failed = 0, refused = 0, all_ns = 0;

	selection_read(gt_capture_session(capture)->options, &selection);
	if (!selection_has_calls(&selection) && !s->read[GT_CLASS_CALL]) {
		print_line(out, "calls", NULL, "not recorded (mode %s)", selection.mode->name);
		return;
	}
	for (uint32_t i = 0; i < s->groups[SUMMARY_CALLS].count; i++) {
		failed += s->groups[SUMMARY_CALLS].rows[i].failed;
		refused += s->groups[SUMMARY_CALLS].rows[i].refused;
	}
	for (unsigned k = 0; k < GT_KIND_COUNT; k++)
		all_ns += s->kind_ns[k];
	if (s->read_ranges)
		print_line(out, "ranges", NULL, "%s of the program and its operators",
			   ui_count(s->read_ranges));
	print_line(out, "calls", NULL, "%s took %s%s%s%s%s%s%s", ui_count(s->read[GT_CLASS_CALL]),
		   ui_duration(all_ns), failed ? ", " : "", failed ? ui_count(failed) : "",
		   failed ? " failed" : "", refused ? ", " : "", refused ? ui_count(refused) : "",
		   refused ? " refused" : "");
	for (unsigned n = 0; n < KINDS_MOST; n++) {
		unsigned best = GT_KIND_COUNT;
		for (unsigned k = 0; k < GT_KIND_COUNT; k++)
			if (!done[k] && s->kind_ns[k] &&
			    (best == GT_KIND_COUNT || s->kind_ns[k] > s->kind_ns[best]))
				best = k;
		if (best == GT_KIND_COUNT)
			break;
		done[best] = true;
		print_label(out, "");
		print_kind(s, (enum gt_operation_kind)best, all_ns, out);
	}
}

/* What calls that wait waited for. */
static void print_waits(const struct summary *s, FILE *out)
{
	const struct stages_wait *w = &s->wait;

	if (w->earlier_ns || w->moving_ns || w->runtime_ns)
		print_line(out, "waits", NULL,
			   "%s for earlier work, %s moving data, %s in the runtime itself%s%s%s",
			   ui_duration(w->earlier_ns), ui_duration(w->moving_ns),
			   ui_duration(w->runtime_ns), w->unknown_ns ? "; of " : "",
			   w->unknown_ns ? ui_duration(w->unknown_ns) : "",
			   w->unknown_ns ? " it is not known" : "");
	else if (w->unknown_ns)
		print_line(out, "waits", NULL, "%s, of which it is not known what for",
			   ui_duration(w->unknown_ns));
}

/* What to do where a call failed because @runtime has no device here, or what stands for it. */
static void print_absence(const struct runtime *runtime, FILE *out)
{
	const char *device = runtime->device_is ? strchr(runtime->device_is, ' ') : NULL;

	if (!runtime->device || !device)
		print_line(out, "", NULL,
			   "%s finds no driver here; 'gputap doctor' says how to get one",
			   runtime->name);
	else if (access(runtime->device, F_OK) != 0 && runtime->software)
		print_line(out, "", NULL,
			   "there is no%s here; on one in software: gputap run -- gputap soft %s "
			   "-- PROGRAM",
			   device, runtime->software);
}

/* Failures, then what was refused, which is no fault of the program's. */
static void print_failures(const struct summary *s, FILE *out)
{
	const struct runtime *absent = NULL; /* of the first failure that says so */
	unsigned failures = 0, refusals = 0;
	struct grid g;

	report_table(&g, REPORT_FAILURES, s, GT_DOMAIN_NONE);
	for (size_t r = 0; r < g.row_count; r++) {
		const struct grid_cell *row = g.cells + r * g.column_count;
		const char *kind = row[grid_column(&g, "kind")].text,
			   *error = row[grid_column(&g, "error")].text;
		bool refused = !strcmp(kind, "refused");

		if (refused ? refusals++ >= REFUSALS_MOST : failures++ >= FAILURES_MOST)
			continue;
		print_line(out, kind, refused ? NULL : ui_colors(out)->red, "%s x %s %s",
			   ui_count(row[0].count), row[g.column_count - 1].text, error);
		if (!absent)
			absent = runtime_find_absent(error);
	}
	if (absent && !s->device_count)
		print_absence(absent, out);
	grid_fini(&g);
}

/* What the user would look for in vain otherwise: a tool of HSA's that said no, a library that
 * is not traced, a device that failed. Tools of ours are reported when they are loaded. */
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
		print_line(out, shown++ ? "" : "events", ui_colors(out)->red, "%s: %s",
			   gt_event_code_name(e->code), e->text ? e->text : "");
	}
}

static void print_devices(const struct summary *s, FILE *out)
{
	for (uint32_t i = 0; i < s->track_count && i < DEVICES_MOST; i++) {
		const struct summary_track *d = &s->tracks[i]; /* no keys: one a device */
		const struct timeline *t = &d->all;
		uint64_t span = timeline_span_ns(t);
		char idle[256];

		print_line(out, "device", NULL,
			   "%s: busy %.1f%% of %s (kernels %.1f%%, copies %.1f%%)%s%s",
			   s->devices[d->device].name, percent(t->busy_ns, span), ui_duration(span),
			   percent(d->kernels.busy_ns, span), percent(d->copies.busy_ns, span),
			   t->gaps.count ? ", longest gap " : "",
			   t->gaps.count ? ui_duration(t->gaps.max) : "");
		if (t->unrecorded_ns)
			print_line(out, "", NULL, "not recorded: %s, neither busy nor idle",
				   ui_duration(t->unrecorded_ns));
		if (report_idle_line(s, d->device, span, idle, sizeof idle))
			print_line(out, "", NULL, "idle: %s", idle);
		if (d->launch.count)
			print_line(out, "", NULL,
				   "call to kernel start: p50 %s, p99 %s; %.1f%% of the time no "
				   "work was "
				   "queued",
				   ui_duration(histogram_percentile(&d->launch, 500)),
				   ui_duration(histogram_percentile(&d->launch, 990)),
				   percent(t->starved_ns, span));
		if (d->runtime.count)
			print_line(out, "", NULL,
				   "of that through the runtime: p50 %s, p99 %s; behind its own "
				   "queue's "
				   "work "
				   "%.1f%%, behind other queues' %.1f%%",
				   ui_duration(histogram_percentile(&d->runtime, 500)),
				   ui_duration(histogram_percentile(&d->runtime, 990)),
				   percent(d->own.total, d->launch.total),
				   percent(d->others.total, d->launch.total));
	}
}

/* "host to device (Pageable)", and where that is too long "host to device". */
static void put_direction(FILE *out, const char *text)
{
	static const char rate[] = ", 12.3 GB/s";
	const char *kind = strstr(text, " (");
	size_t room = room_for_name(out, LABEL + 39 + (unsigned)sizeof rate);

	fprintf(out, "%.*s", (int)(kind && strlen(text) > room ? kind - text : INT_MAX), text);
}

static void print_work(const struct summary *s, FILE *out)
{
	struct grid g;

	report_table(&g, REPORT_KERNELS, s, GT_DOMAIN_NONE);
	for (size_t r = 0; r < g.row_count && r < KERNELS_MOST; r++) {
		const struct grid_cell *row = g.cells + r * g.column_count;
		print_label(out, r ? "" : "kernels");
		fprintf(out, "%8s %5.1f%%  %9s x %-8s  ", ui_duration(row[0].count),
			row[1].real * 100, ui_count(row[2].count), ui_duration(row[3].count));
		ui_put(out, row[g.column_count - 1].text, room_for_name(out, LABEL + 44));
		fputc('\n', out);
	}
	grid_fini(&g);
	report_table(&g, REPORT_COPIES, s, GT_DOMAIN_NONE);
	for (size_t r = 0; r < g.row_count && r < COPIES_MOST; r++) {
		const struct grid_cell *row = g.cells + r * g.column_count;
		print_label(out, r ? "" : "copies");
		fprintf(out, "%8s %6s  %9s x %-8s  ", ui_duration(row[0].count), "",
			ui_count(row[2].count),
			row[2].count ? ui_bytes(row[3].count / row[2].count) : "");
		put_direction(out, row[g.column_count - 1].text);
		if (row[4].has)
			fprintf(out, ", %s", ui_rate(row[4].real));
		fputc('\n', out);
	}
	grid_fini(&g);
}

int gt_report_short(const char *capture, FILE *out)
{
	const struct ui_colors *c = ui_colors(out);
	struct summary s = {
		.keys = {[SUMMARY_CALLS] = SUMMARY_NAME,
			 [SUMMARY_RANGES] = SUMMARY_NAME,
			 [SUMMARY_KERNELS] = SUMMARY_NAME | SUMMARY_DEVICE,
			 [SUMMARY_COPIES] = SUMMARY_NAME | SUMMARY_DEVICE,
			 [SUMMARY_OTHER] = SUMMARY_DEVICE},
		.progress = true,
	};
	const struct summary_file *f;
	struct losses losses;
	char lost[LOSSES_HEADLINE];
	uint64_t records;
	struct gt_capture *opened;
	int rc = gt_capture_open(capture, &opened);

	if (rc)
		return rc;
	rc = summary_add(&s, opened);
	rc = rc ? rc : summary_finish(&s);
	if (rc)
		goto out;
	f = &s.files[0];
	records = s.read[GT_CLASS_CALL] + s.read_ranges + s.read[GT_CLASS_DEVICE];
	fprintf(out, "%sgputap:%s %s, %s process%s, %s thread%s, %s record%s, ", c->bold, c->reset,
		ui_duration(f->end_ns - f->start_ns), ui_count(f->processes),
		f->processes == 1 ? "" : "es", ui_count(f->threads), f->threads == 1 ? "" : "s",
		ui_count(records), records == 1 ? "" : "s");
	losses = losses_read(opened);
	losses_headline(&losses, lost);
	if (losses_are_none(&losses))
		fprintf(out, "%s\n", *lost ? lost : "damaged");
	else
		fprintf(out, "%s%s%s\n", c->red, lost, c->reset);
	if (*f->recorded_text) {
		fputs("  windows  ", out);
		ui_wrap(out, 11, 11, f->recorded_text);
		fputc('\n', out);
	}
	if (*f->kept_text) {
		fputs("  kept     ", out);
		ui_wrap(out, 11, 11, f->kept_text);
		fputc('\n', out);
	}
	if (f->untraced) {
		fprintf(out, "  %s", c->red);
		ui_wrap(out, 2, 4, f->untraced_text);
		fprintf(out, "%s\n", c->reset);
	}
	print_selection(&s, opened, out);
	print_deaths(opened, out);
	if (records) {
		print_calls(&s, opened, out);
		print_waits(&s, out);
		print_failures(&s, out);
	}
	print_events(opened, out);
	if (records) {
		print_devices(&s, out);
		print_work(&s, out);
	}
out:
	gt_capture_close(opened);
	summary_fini(&s);
	return rc;
}
