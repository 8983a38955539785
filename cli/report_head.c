/* SPDX-License-Identifier: MIT */
/* Head of a report: the traced command, the requested records, the missing records. */
#include "cli/report_head.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/query/filter_nothing.h"
#include "analysis/tables/losses.h"
#include "analysis/tables/selection.h"
#include "cli/report.h"
#include "cli/report_late.h"
#include "cli/ui.h"

enum {
	HEAD_INDENT = 2,
	/* largest number of sessions shown individually; with more, the head shows totals */
	FILES_EACH = 8,
	OPEN_NAMED = 4, /* largest number of lines about open calls */
	FILES_NAMED = 4 /* largest number of sessions with remarks that the head names */
};

bool report_file_is_complete(const struct summary_file *f)
{
	return f->health.end == GT_CAPTURE_COMPLETE && !f->health.bad_bytes &&
	       !f->health.bad_blocks && !f->health.bad_sums && !f->untraced;
}

bool report_is_complete(const struct summary *s)
{
	struct losses losses;

	for (uint32_t i = 0; i < s->file_count; i++)
		if (!report_file_is_complete(&s->files[i]))
			return false;
	losses = losses_read(s->capture);
	return losses_are_none(&losses) && s->health.end == GT_CAPTURE_COMPLETE &&
	       !s->health.bad_blocks && !s->health.bad_sums;
}

/* Print the command in the rest of the line, or on a separate line if the rest is too short. */
static void print_command(const struct summary_file *f, FILE *out)
{
	unsigned room = ui_room(out), at = text_width(f->path) + 2;

	if (room - HEAD_INDENT < text_width(f->command) + at) {
		fprintf(out, "\n%*s", HEAD_INDENT, "");
		at = HEAD_INDENT;
	}
	ui_put(out, f->command, room > at + 10 ? room - at : 10);
}

/* Print the selection, unless everything was requested. */
static void print_selection(const struct summary *s, size_t file, FILE *out)
{
	const char *options = gt_capture_session_at(s->capture, file)->info.options;
	struct capture_selection selection;
	char text[SELECTION_LINE];

	selection_read(options, &selection);
	if (selection_describe(&selection, text, sizeof text))
		ui_print_sentence(out, ui_colors(out)->yellow, "Recorded: %s", text);
}

/* Print the records that sessions exclude by default, without duplicates. */
static void print_left_out(const struct summary *s, FILE *out)
{
	const char *last = "";

	for (size_t i = 0; i < gt_capture_event_count(s->capture); i++) {
		const struct gt_event_info *e = gt_capture_event(s->capture, i);

		if (e->code != GT_EVENT_NOT_RECORDED || !e->text || !strcmp(last, e->text))
			continue;
		last = e->text;
		ui_print_sentence(out, ui_colors(out)->yellow, "Not recorded: %s", last);
	}
}

/* Print what the runtimes could not give because gputap was attached late. */
static void print_late(const struct summary *s, FILE *out)
{
	const char *texts[REPORT_LATE_NAMED];
	size_t more, count = report_late_texts(s->capture, texts, &more);

	for (size_t i = 0; i < count; i++)
		ui_print_sentence(out, ui_colors(out)->yellow, "Not given late: %s", texts[i]);
	if (more)
		ui_print_sentence(out, ui_colors(out)->yellow,
				  "Not given late: %s more; 'gputap info' lists them",
				  show_count(more));
}

/* Print that a session was attached to running processes. */
static void print_attached(const struct summary *s, uint32_t file, FILE *out)
{
	char text[REPORT_LATE_TEXT];

	if (report_attached_text(s->capture, file, text, sizeof text))
		ui_print_sentence(out, NULL, "Attached to %s.", text);
}

/* Print the requested names that matched nothing. Only for a single capture, for which all names
 * are known. */
static void print_unmet(const struct summary *s, const char *where, unsigned by, FILE *out)
{
	struct capture_selection selection;
	char text[SELECTION_LINE];

	if (s->file_count != 1 || where || (by && !(by & SUMMARY_NAME)))
		return;
	selection_read(gt_capture_session_at(s->capture, 0)->info.options, &selection);
	if (selection_unmet(&selection, s, text, sizeof text))
		ui_print_sentence(out, ui_colors(out)->yellow, "Warning: nothing matched %s", text);
}

static void print_no_rank(const struct summary *s, unsigned by, FILE *out)
{
	if (!(by & SUMMARY_RANK) || !s->process_count)
		return;
	for (uint32_t i = 0; i < s->process_count; i++)
		if (s->processes[i].rank != LOOKUP_NONE)
			return;
	ui_print_sentence(out, ui_colors(out)->yellow,
			  "No launcher assigned ranks, so --by rank has no effect");
}

static void print_deaths(const struct summary *s, FILE *out)
{
	const uint32_t processes = (uint32_t)gt_capture_process_count(s->capture);
	uint32_t dead = 0, most;
	char text[SELECTION_LINE];

	for (uint32_t p = 0; p < processes; p++)
		dead += report_death(s->capture, p, text, sizeof text);
	most = s->file_count > FILES_EACH || dead > FILES_EACH ? FILES_NAMED : dead;
	dead = 0;

	for (uint32_t p = 0; p < processes; p++)
		if (report_death(s->capture, p, text, sizeof text) && dead++ < most)
			ui_print_sentence(out, ui_colors(out)->red, "Died: %s", text);
	if (dead > most)
		ui_print_sentence(out, ui_colors(out)->red,
				  "%s more process%s died; -t processes lists them",
				  show_count(dead - most), dead - most == 1 ? "" : "es");
}

static void print_open(const struct summary *s, FILE *out)
{
	char text[SELECTION_LINE];

	for (size_t i = 0; report_open_line(s->capture, i, text, sizeof text); i++) {
		if (i == OPEN_NAMED) {
			ui_print_sentence(out, ui_colors(out)->yellow,
					  "More calls were open; -t open lists them");
			return;
		}
		ui_print_sentence(out, ui_colors(out)->yellow, "Open: %s", text);
	}
}

/* Set *calls and *device to true if a session requested calls or GPU activities. */
void report_was_asked(const struct summary *s, bool *calls, bool *device)
{
	*calls = *device = !s->file_count;
	for (uint32_t i = 0; i < s->file_count; i++) {
		struct capture_selection selection;

		selection_read(gt_capture_session_at(s->capture, i)->info.options, &selection);
		*calls |= selection_has_calls(&selection);
		*device |= selection.device;
	}
}

static void print_file(const struct summary_file *f, FILE *out)
{
	const struct ui_colors *c = ui_colors(out);
	bool known = *f->command || *f->host;

	fputs(c->bold, out);
	ui_put(out, f->path, UINT32_MAX);
	fprintf(out, "%s: ", c->reset);
	if (known)
		print_command(f, out);
	else /* the start of the file is damaged, or the file contains nothing else */
		ui_wrap(out, text_width(f->path) + 2, HEAD_INDENT,
			"command, time and host are not in the readable part");
	fputc('\n', out);
	ui_print_sentence(out, NULL, "%s%s%.64s, %s process%s, %s thread%s",
			  show_duration(f->end_ns - f->start_ns), known ? " on " : "",
			  known ? f->host : "", show_count(f->processes),
			  f->processes == 1 ? "" : "es", show_count(f->threads),
			  f->threads == 1 ? "" : "s");
	if (f->health.end == GT_CAPTURE_CUT)
		ui_print_sentence(
			out, c->yellow,
			"The capture has no end: the collector was killed, or it is still "
			"being written.");
	if (*f->recorded_text)
		ui_print_sentence(out, NULL, "Recorded: %s%s.", f->recorded_text,
				  strstr(f->recorded_text, "paused") ? "" : "; else paused");
	if (*f->retained_text)
		ui_print_sentence(out, NULL, "Retained: %s.", f->retained_text);
	if (f->untraced)
		ui_print_sentence(out, c->red, "%s. 'gputap info' lists each process.",
				  f->untraced_text);
	if (f->health.bad_bytes || f->health.bad_blocks)
		ui_print_sentence(
			out, c->red,
			"The capture is damaged: %s in %s part%s could not be read and are "
			"missing here.",
			show_bytes(f->health.bad_bytes), show_count(f->health.bad_blocks),
			f->health.bad_blocks == 1 ? "" : "s");
	if (f->health.bad_sums)
		ui_print_sentence(
			out, c->red,
			"The capture's totals do not match its records: see 'gputap info'.");
}

/* Print a summary of many sessions: "1,000 sessions, the first of them r0.gputap: ./train". */
static void print_job(const struct summary *s, FILE *out)
{
	const struct summary_file *first = &s->files[0];
	uint64_t longest_ns = 0, processes = 0, threads = 0;
	uint32_t wrong = 0;
	struct texts hosts = {0};

	for (uint32_t i = 0; i < s->file_count; i++) {
		const struct summary_file *f = &s->files[i];

		processes += f->processes;
		threads += f->threads;
		if (f->end_ns - f->start_ns > longest_ns)
			longest_ns = f->end_ns - f->start_ns;
		texts_put(&hosts, f->host);
	}
	fprintf(out, "%s%s sessions%s; the first: ", ui_colors(out)->bold,
		show_count(s->file_count), ui_colors(out)->reset);
	print_file(first, out);
	print_selection(s, 0, out);
	ui_print_sentence(out, NULL,
			  "All sessions: longest %s, on %s host%s, %s processes, %s threads",
			  show_duration(longest_ns), show_count(hosts.count),
			  hosts.count == 1 ? "" : "s", show_count(processes), show_count(threads));
	texts_fini(&hosts);
	for (uint32_t i = 1; i < s->file_count; i++)
		if (!report_file_is_complete(&s->files[i]) && wrong++ < FILES_NAMED)
			print_file(&s->files[i], out);
	if (wrong > FILES_NAMED)
		ui_print_sentence(out, ui_colors(out)->red,
				  "%s more are damaged, incomplete or have untraced programs; see "
				  "'gputap info'",
				  show_count(wrong - FILES_NAMED));
}

/* Write text such as "all linked to their call" for GPU activities, if there are any. */
static void describe_links(const struct summary *s, char *text, size_t size)
{
	uint64_t device = s->read[GT_CLASS_DEVICE];

	*text = '\0';
	if (s->scope.of_processes) {
		snprintf(text, size,
			 s->scope.some ? " in the selected time and processes"
				       : " in the selected processes");
		return;
	}
	if (s->scope.some) {
		snprintf(text, size, " in the selected time");
		return;
	}
	if (device && !s->read[GT_CLASS_CALL] && !s->linked.lost)
		snprintf(text, size, ", without calls to link to");
	else if (device && s->linked.activity == device)
		snprintf(text, size,
			 device == 1 ? ", linked to its call" : ", all linked to their calls");
	else if (device && !s->linked.activity)
		snprintf(text, size,
			 device == 1 ? ", not linked to its call" : ", none linked to their calls");
	else if (device)
		snprintf(text, size, ", all but %s linked to their calls",
			 show_count(device - s->linked.activity));
}

static void print_totals(const struct summary *s, const char *where, FILE *out)
{
	const struct ui_colors *c = ui_colors(out);
	uint64_t calls = s->read[GT_CLASS_CALL], device = s->read[GT_CLASS_DEVICE], dropped;
	char links[80], of_calls[64], of_activity[64], of_ranges[64] = "", why[FILTER_WHY_BYTES];
	const struct losses losses = losses_read(s->capture);
	char lost[LOSSES_HEADLINE];
	bool calls_asked, activity_asked;

	report_was_asked(s, &calls_asked, &activity_asked);
	describe_links(s, links, sizeof links);
	snprintf(of_calls, sizeof of_calls, "%s call%s", show_count(calls), calls == 1 ? "" : "s");
	snprintf(of_activity, sizeof of_activity, "%s GPU activit%s", show_count(device),
		 device == 1 ? "y" : "ies");
	if (s->read_ranges)
		snprintf(of_ranges, sizeof of_ranges, "%s range%s, ", show_count(s->read_ranges),
			 s->read_ranges == 1 ? "" : "s");
	losses_headline(&losses, lost);
	if (!losses_are_none(&losses))
		*lost = '\0';
	ui_print_sentence(out, NULL, "%s%s, %s%s%s%s", of_ranges,
			  calls || calls_asked ? of_calls : "calls not recorded",
			  device || activity_asked ? of_activity : "GPU activities not recorded",
			  calls_asked ? links : "", *lost ? "; " : "", lost);
	/* ranges that are open at the end are named above */
	dropped = summary_dropped(s);
	dropped -= losses.open_ranges < dropped ? losses.open_ranges : dropped;
	if (dropped)
		ui_print_sentence(out, c->red, "%s of %s records were lost", show_count(dropped),
				  show_count(summary_seen(s)));
	if (losses.missing)
		ui_print_sentence(out, c->red, "An unknown number of records is missing: %s%s",
				  losses.missing_text ? losses.missing_text : "",
				  losses.missing > 1 ? "; 'gputap info' lists all such events"
						     : "");
	if (losses.failed)
		ui_print_sentence(out, c->red, "%s tool%s failed: 'gputap info' lists the events",
				  show_count(losses.failed), losses.failed == 1 ? "" : "s");
	if (summary_holds_for_nothing(s)) {
		filter_explain_nothing(s->filter, why);
		ui_print_sentence(out, c->yellow, "Only where %s, which matches no record%s%s",
				  where, *why ? ": " : "", why);
	} else if (where) {
		ui_print_sentence(out, c->yellow, "Only where %s: %s of them%s%s%s", where,
				  show_count(s->matched), s->matched_ranges ? ", " : "",
				  s->matched_ranges ? show_count(s->matched_ranges) : "",
				  !s->matched_ranges       ? ""
				  : s->matched_ranges == 1 ? " range or marker of the program"
							   : " ranges and markers of the program");
	}
}

void report_head_print(const struct summary *s, const char *where, unsigned by, FILE *out)
{
	if (s->file_count > FILES_EACH)
		print_job(s, out);
	for (uint32_t i = 0; i < s->file_count && s->file_count <= FILES_EACH; i++) {
		print_file(&s->files[i], out);
		print_attached(s, i, out);
		print_selection(s, i, out);
	}
	print_left_out(s, out);
	print_late(s, out);
	print_totals(s, where, out);
	print_unmet(s, where, by, out);
	print_no_rank(s, by, out);
	print_deaths(s, out);
	print_open(s, out);
}
