/* SPDX-License-Identifier: MIT */
/* See run_results.h. */
#include "cli/run_results.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/tables/losses.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/output_name.h"
#include "cli/run_keep.h"
#include "cli/run_samples.h"
#include "cli/run_window.h"
#include "cli/ui.h"
#include "cli/untraced_note.h"
#include "export/export.h"
#include "record/operation.h"
#include "util/error.h"

void run_results_way_out(const struct run_request *r, int error)
{
	if (error == EMFILE || error == ENFILE)
		fprintf(stderr,
			"  gputap %s needs about %d file descriptors and a few per process of the "
			"tree: use 'ulimit -n 1024'\n",
			r->command, r->run.keep.window_ns ? 40 : 20);
	else if (error == EEXIST || error == EBUSY) /* another rank created the file first */
		output_name_note_ranks(r->output, r->pattern);
	else if (!*r->pattern)
		fprintf(stderr, "  'gputap %s -o FILE ..' writes the capture elsewhere\n",
			r->command);
}

/* Print advice for the cause of the error. */
static void note_reason(enum gt_drop_reason why, uint64_t lost)
{
	const char *advice = losses_advice(why);

	if (lost && why != GT_DROP_UNFINISHED && why != GT_DROP_OUTPUT)
		fprintf(stderr, "  %s: %s%s%s\n", show_count(lost), gt_drop_reason_name(why),
			advice ? "; " : "", advice ? advice : "");
}

/* Print losses and their reasons, even if quiet. */
static void note_losses(const struct run_request *r, const struct gt_run_result *result,
			unsigned noted)
{
	uint64_t lost = result->dropped - result->unfinished;

	if (result->output_error)
		ui_note("cannot write all of %s (%s): %s of %s records are lost and counted as "
			"lost",
			r->run.output, strerror(-result->output_error), show_count(lost),
			show_count(result->seen));
	else if (lost)
		ui_note("%s of %s records are lost; 'gputap info %s' shows where", show_count(lost),
			show_count(result->seen), show_shell_word(r->run.output));
	for (int why = 0; lost && why < GT_DROP_REASON_COUNT; why++)
		note_reason((enum gt_drop_reason)why, result->dropped_by[why]);
	if (result->torn)
		ui_note("%u process%s overwrote gputap's rings; unreadable records are counted as "
			"lost",
			result->torn, result->torn == 1 ? "" : "es");
	/* In other cases, gt_report_short() or note_nothing_seen() reports untraced processes.
	 * Processes that a traced program reported are not in result->untraced */
	if (r->quiet || ((result->untraced > noted || result->still_running) && !result->runtimes))
		untraced_note(r->run.output);
	if (result->refused)
		ui_note("%u process%s could not be read: the segment is damaged or from another "
			"version of libgputap",
			result->refused, result->refused == 1 ? "" : "es");
}

void run_results_note_not_traced(const char *path)
{
	enum { MOST = 3 };
	struct gt_capture *c;
	unsigned noted = 0;

	if (gt_capture_open(path, &c)) {
		gt_error_clear();
		return;
	}
	for (size_t i = 0; i < gt_capture_event_count(c) && noted < MOST; i++) {
		const struct gt_event_info *e = gt_capture_event(c, i);

		if (e->code != GT_EVENT_NOT_TRACED || !e->text)
			continue;
		noted++;
		fputs("  not traced: ", stderr);
		ui_put(stderr, e->text, UINT32_MAX); /* a path may contain any characters */
		fputc('\n', stderr);
	}
	gt_capture_close(c);
}

/* Print the number of processes that are still running. The line about the capture names them. */
static void note_still_running(const struct gt_run_result *result)
{
	if (result->still_running)
		ui_note("%u process%s of the tree %s still running; 'gputap run --wait' waits for "
			"all",
			result->still_running, result->still_running == 1 ? "" : "es",
			result->still_running == 1 ? "is" : "are");
}

static bool show_progress;
static struct ui_progress progress;

static void on_progress(void *data, uint64_t done, uint64_t total)
{
	(void)data;
	if (!show_progress) {
		ui_progress_begin(&progress, "export", total);
		show_progress = true;
	}
	ui_progress_set(&progress, done);
}

/* Export the capture, then remove it. If the export fails, keep the capture, so that no traced data
 * is lost. */
static bool export(const struct run_request *r)
{
	struct gt_view_options o = {.progress = on_progress, .jobs = jobs_default()};
	struct gt_capture *c;
	int status = gt_capture_open(r->capture, &c);

	if (!r->run.shared) /* the export contains the data of the capture */
		umask(S_IRWXG | S_IRWXO);

	if (!status) {
		status = gt_export(r->exporter, c, r->output, r->run.replace, &o);
		if (show_progress)
			ui_progress_end(&progress);
		gt_capture_close(c);
	}
	if (status) {
		ui_fail(GT_EXIT_FAILURE, "cannot write %s", r->output);
		ui_note("the capture is in %s", r->capture);
		return false;
	}
	return true;
}

bool run_results_print(const struct run_request *r, const struct gt_run_result *result,
		       unsigned noted, void (*nothing_seen)(void *data), void *data)
{
	bool exported = r->exporter && export(r);

	note_losses(r, result, noted);
	run_keep_note(result);
	if (!r->quiet) {
		run_window_note(&r->run.windows, r->capture, &result->ranges);
		if (!result->runtimes)
			nothing_seen(data);
		else if (gt_report_short(r->capture, !r->exporter, stderr))
			gt_error_clear();
		note_still_running(result);
		run_samples_note(&r->run, result);
		if (!r->exporter)
			ui_note("wrote %s; 'gputap report %s' shows more",
				show_shell_word(r->output), show_shell_word(r->output));
		else if (exported)
			ui_note("wrote %s", show_shell_word(r->output));
	}
	if (exported)
		unlink(r->capture);
	return exported || !r->exporter;
}

static bool has_stacks(const struct run_request *r)
{
	return r->run.session.stacks || r->run.sample_host_ns;
}

void run_results_name_stacks(struct run_request *r)
{
	if (has_stacks(r))
		run_stacks_name(r->capture, &r->stacks, r->quiet);
}

void run_results_name_snapshots(struct run_request *r)
{
	if (!has_stacks(r))
		return;
	r->run.complete_snapshot = run_stacks_name_snapshot;
	r->run.complete_data = &r->stacks;
}
