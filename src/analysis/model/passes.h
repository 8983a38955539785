/* SPDX-License-Identifier: MIT */
/* Helpers for the exporters to SQLite, which make two passes over the capture, first for calls,
 * then for GPU activities, with a common progress report. */
#ifndef GPUTAP_ANALYSIS_MODEL_PASSES_H
#define GPUTAP_ANALYSIS_MODEL_PASSES_H

#include "analysis/model/view.h"
#include "util/grow.h"

enum { GT_PASSES = 2 };

struct gt_pass {
	const struct gt_view_options *options;
	unsigned number;
};

static inline void gt_pass_report(void *data, uint64_t done, uint64_t total)
{
	const struct gt_pass *p = data;

	p->options->progress(p->options->progress_data, done + p->number * total,
			     GT_PASSES * total);
}

/* Pass all items to @step until it returns false. Return 0, or the error of the reader. */
static inline int gt_pass_run(
	struct gt_view *view, unsigned number, const struct gt_view_options *options,
	bool (*step)(void *exporter, unsigned pass, const struct gt_item *item), void *exporter)
{
	struct gt_pass pass = {options, number};
	struct gt_view_options ours = {.progress = options->progress ? gt_pass_report : NULL,
				       .progress_data = &pass};
	struct gt_view_progress progress;
	const struct gt_item *item;
	struct gt_cursor *cursor;
	int status = gt_cursor_create(view->capture, &cursor);

	if (status)
		return status;
	gt_view_progress_begin(&progress, view, &ours);
	while ((status = gt_cursor_next(cursor, &item)) > 0 && step(exporter, number, item))
		gt_view_progress_step(&progress, cursor);
	gt_cursor_destroy(cursor);
	return status < 0 ? status : 0;
}

#endif
