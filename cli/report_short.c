/* SPDX-License-Identifier: MIT */
/* End of `gputap run`: a head of a few lines, followed by the first screen of a report. */
#include "analysis/tables/losses.h"
#include "analysis/tables/selection.h"
#include "analysis/tables/stored_summary.h"
#include "cli/command.h"
#include "cli/overview.h"
#include "cli/report.h"
#include "cli/report_late.h"
#include "cli/ui.h"
#include "util/error.h"

/* largest number of lines about processes that died, and about open calls */
enum { DEAD_NAMED = 8, OPEN_NAMED = 4 };

/* Print the selection and the parts of it that matched nothing, unless everything was requested. */
static void print_selection(const struct summary *s, const struct gt_capture *capture, FILE *out)
{
	const struct ui_colors *c = ui_colors(out);
	char text[SELECTION_LINE];
	struct capture_selection selection;

	selection_read(gt_capture_session(capture)->options, &selection);
	if (selection_describe(&selection, text, sizeof text))
		ui_print_line(out, "Recorded", c->yellow, "%s", text);
	if (selection_unmet(&selection, s, text, sizeof text))
		ui_print_line(out, "Warning", c->yellow, "nothing matched %s", text);
}

/* Print processes that a signal killed in a call. */
static void print_deaths(const struct gt_capture *capture, FILE *out)
{
	uint32_t dead = 0;
	char text[SELECTION_LINE];

	for (uint32_t p = 0; p < gt_capture_process_count(capture); p++)
		if (report_death(capture, p, text, sizeof text) && dead++ < DEAD_NAMED)
			ui_print_line(out, "Died", ui_colors(out)->red, "%s", text);
	if (dead > DEAD_NAMED)
		ui_print_line(out, "Died", ui_colors(out)->red, "%s more processes",
			      show_count(dead - DEAD_NAMED));
}

/* Print calls that had not returned. */
static void print_open(const struct gt_capture *capture, FILE *out)
{
	char text[SELECTION_LINE];

	for (size_t i = 0; i < OPEN_NAMED && report_open_line(capture, i, text, sizeof text); i++)
		ui_print_line(out, "Open", ui_colors(out)->yellow, "%s", text);
}

/* Print what the runtimes could not give because gputap was attached late. */
static void print_late(const struct gt_capture *capture, FILE *out)
{
	const char *texts[REPORT_LATE_NAMED];
	size_t more, count = report_late_texts(capture, texts, &more);

	for (size_t i = 0; i < count; i++)
		ui_print_line(out, i ? "" : "Not late", ui_colors(out)->yellow, "%s", texts[i]);
	if (more)
		ui_print_line(out, "", ui_colors(out)->yellow, "%s more; 'gputap info' lists them",
			      show_count(more));
}

/* Store the summary of a large capture, so that later reports need not read the records. Without
 * it, reports are only slower. */
static void store_summary(struct summary *s, struct gt_capture *capture)
{
	if (s->read[GT_CLASS_CALL] + s->read_ranges + s->read[GT_CLASS_DEVICE] >=
		    STORED_SUMMARY_RECORDS &&
	    stored_summary_write(s, capture))
		gt_error_clear();
}

int gt_report_short(const char *capture, bool store, FILE *out)
{
	const struct ui_colors *c = ui_colors(out);
	struct ui_progress bar = {0};
	struct summary s = {.progress = {ui_progress_report, &bar}};
	const struct summary_file *f;
	struct losses losses;
	char lost[LOSSES_HEADLINE];
	uint64_t records;
	struct gt_capture *opened;
	int rc = gt_capture_open(capture, &opened);

	if (rc)
		return rc;
	stored_summary_choose_keys(&s);
	rc = summary_add(&s, opened);
	rc = rc ? rc : summary_finish(&s);
	if (rc)
		goto out;
	if (store)
		store_summary(&s, opened);
	summary_join_devices(&s);
	f = &s.files[0];
	records = s.read[GT_CLASS_CALL] + s.read_ranges + s.read[GT_CLASS_DEVICE];
	fprintf(out, "%sgputap:%s %s, %s process%s, %s thread%s, %s record%s, ", c->bold, c->reset,
		show_duration(f->end_ns - f->start_ns), show_count(f->processes),
		f->processes == 1 ? "" : "es", show_count(f->threads), f->threads == 1 ? "" : "s",
		show_count(records), records == 1 ? "" : "s");
	losses = losses_read(opened);
	losses_headline(&losses, lost);
	if (losses_are_none(&losses))
		fprintf(out, "%s\n", *lost ? lost : "damaged");
	else
		fprintf(out, "%s%s%s\n", c->red, lost, c->reset);
	if (*f->recorded_text)
		ui_print_line(out, "Windows", NULL, "%s", f->recorded_text);
	if (*f->retained_text)
		ui_print_line(out, "Retained", NULL, "%s", f->retained_text);
	if (f->untraced) {
		fprintf(out, "  %s", c->red);
		ui_wrap(out, 2, 4, f->untraced_text);
		fprintf(out, "%s\n", c->reset);
	}
	print_selection(&s, opened, out);
	print_deaths(opened, out);
	print_open(opened, out);
	print_late(opened, out);
	if (records)
		rc = overview_print(&s, opened, &(struct overview_options){0}, out);
out:
	gt_capture_close(opened);
	summary_fini(&s);
	return rc;
}
