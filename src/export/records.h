/* SPDX-License-Identifier: MIT */
/* The loop over all records, shared by the exporters. The loop is always inlined, so that it calls
 * the exporter's functions directly, because it runs millions of times. */
#ifndef GPUTAP_EXPORT_RECORDS_H
#define GPUTAP_EXPORT_RECORDS_H

#include "analysis/model/view.h"
#include "export/out.h"

/* Receives consecutive records of one thread. @exporter: as passed to gt_export_records(). Return 0
 * or negative errno with a cause. */
typedef int gt_export_items_fn(void *exporter, const struct gt_item *item,
			       const struct gt_item *end);

/* Pass all records to @write until @write or the output fails. Return 0 or negative errno. */
static inline __attribute__((always_inline)) int gt_export_records(
	const struct gt_view *view, const struct gt_out *out, const struct gt_view_options *options,
	void *exporter, gt_export_items_fn *write)
{
	struct gt_view_progress progress;
	struct gt_cursor *cursor;
	const struct gt_item *item;
	int count, status = gt_cursor_create(view->capture, &cursor);

	if (status)
		return status;
	gt_view_progress_begin(&progress, view, options);
	while ((count = gt_cursor_next_several(cursor, &item)) > 0) {
		status = write(exporter, item, item + count);
		if (status || out->status)
			break;
		gt_view_progress_steps(&progress, cursor, (uint32_t)count);
	}
	gt_cursor_destroy(cursor);
	return count < 0 ? count : status;
}

/* Body of a gt_export_items_fn, for exporters with one function for calls and one for GPU
 * activities. */
#define GT_EXPORT_EACH(exporter, item, end, write_call, write_activity)                           \
	do {                                                                                      \
		for (; (item) < (end); (item)++) {                                                \
			int status_ = (item)->kind == GT_RECORD_CALL ? write_call(exporter, item) \
				      : (item)->kind == GT_RECORD_DEVICE                          \
					      ? write_activity(exporter, item)                    \
					      : 0;                                                \
			if (__builtin_expect(status_ != 0, 0))                                    \
				return status_;                                                   \
		}                                                                                 \
		return 0;                                                                         \
	} while (0)

#endif
