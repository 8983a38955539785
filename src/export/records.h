/* SPDX-License-Identifier: MIT */
/* The loop over all records that the formats of one file share. Always inlined, so that it calls the format's own functions
 * directly: it runs millions of times. */
#ifndef GPUTAP_EXPORT_RECORDS_H
#define GPUTAP_EXPORT_RECORDS_H

#include "export/out.h"
#include "export/view.h"

/* @exporter: as it was given. Return: 0 or negative errno with a cause. */
typedef int gt_export_item_fn(void *exporter, const struct gt_item *item);

/* Each call and each piece of work goes to its function, until one fails or the output has. Return: 0 or negative errno. */
static inline __attribute__((always_inline)) int gt_export_records(const struct gt_view *view, const struct gt_out *out,
								   const struct gt_export_options *options, void *exporter,
								   gt_export_item_fn *write_call, gt_export_item_fn *write_work)
{
	struct gt_view_progress progress;
	struct gt_cursor *cursor;
	const struct gt_item *item;
	int status = gt_cursor_create(view->capture, &cursor);

	if (status)
		return status;
	gt_view_progress_begin(&progress, view, options);
	while ((status = gt_cursor_next(cursor, &item)) > 0) {
		if (item->kind == GT_RECORD_CALL)
			status = write_call(exporter, item);
		else if (item->kind == GT_RECORD_DEVICE)
			status = write_work(exporter, item);
		else
			continue;
		if (status || out->status)
			break;
		gt_view_progress_step(&progress, cursor);
	}
	gt_cursor_destroy(cursor);
	return status;
}

#endif
