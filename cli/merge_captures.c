/* SPDX-License-Identifier: MIT */
/* See merge.h. */
#include "cli/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/ui.h"
#include "util/error.h"

static void show_progress(void *data, uint64_t done, uint64_t total)
{
	struct ui_progress *progress = data;

	progress->total = total;
	ui_progress_set(progress, done);
}

struct merging {
	const struct capture_inputs *in;
	const struct gt_merge_options *options;
	struct gt_capture_health health;
	size_t repeated;
};

static int write_merged(void *data, const char *temporary)
{
	struct merging *m = data;

	return gt_capture_merge(m->in->paths, m->in->count, temporary, m->options, &m->health,
				&m->repeated);
}

/* Read the merged file's heads again, and report adjusted clocks and missing parts. Return true if
 * the file is complete. */
static bool report_result(const struct export_request *request, const struct merging *m)
{
	struct gt_capture *capture;
	bool whole, shown = false;

	if (gt_capture_open(request->output, &capture)) {
		ui_note("%s was written but cannot be opened: %s", request->output,
			gt_error_text());
		gt_error_clear();
		return false;
	}
	whole = gt_capture_is_whole(gt_capture_health(capture));
	for (size_t i = 0; i < gt_capture_session_count(capture); i++) {
		const struct gt_capture_session *s = gt_capture_session_at(capture, i);

		shown |= !gt_capture_is_whole(&s->health) || s->health.end != GT_CAPTURE_COMPLETE;
		if (s->health.bad_sums)
			ui_note("the totals of %s do not match its records; see 'gputap info %s'",
				s->path, s->path);
		if (s->health.bad_bytes || s->health.bad_blocks)
			ui_note("%s is damaged: %s of %s could not be read and are not in %s",
				s->path, show_bytes(s->health.bad_bytes),
				show_bytes(s->health.bytes), request->output);
		else if (s->health.end == GT_CAPTURE_CUT)
			ui_note("%s has no end: its collector was killed or is still writing; %s "
				"contains the records written so far",
				s->path, request->output);
		else if (s->health.end == GT_CAPTURE_INCOMPLETE)
			ui_note("%s is marked incomplete", s->path);
	}
	if (!whole && !shown)
		ui_note("%s is partly damaged; see 'gputap info %s'", request->output,
			request->output);
	if (m->repeated)
		ui_note("%s session%s given twice (as a copy or in a merged capture): merged once",
			show_count(m->repeated), m->repeated == 1 ? " is" : "s are");
	inputs_print_notes(capture);
	gt_capture_close(capture);
	return whole;
}

int merge_captures(const struct export_request *request)
{
	struct ui_progress progress;
	struct gt_merge_options options = {.progress = show_progress, .progress_data = &progress};
	struct capture_inputs in;
	struct merging m = {.in = &in, .options = &options};
	int status = inputs_choose(&in, request->inputs, request->input_count);

	if (status)
		return status;
	ui_progress_begin(&progress, "merging", 0);
	status = gt_export_publish(request->output, request->replace, write_merged, &m);
	ui_progress_end(&progress);
	if (status == -EEXIST && !request->replace) {
		gt_error_clear();
		status = ui_fail(GT_EXIT_FAILURE, "%s exists: -f replaces it", request->output);
	} else if (status) {
		status = ui_fail(GT_EXIT_FAILURE, "cannot write %s", request->output);
	} else {
		status =
			report_result(request, &m) && !in.left_out && gt_capture_is_whole(&m.health)
				? GT_EXIT_OK
				: GT_EXIT_FAILURE;
	}
	inputs_fini(&in);
	return status;
}
