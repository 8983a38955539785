/* SPDX-License-Identifier: MIT */
/* When processes were not recorded, and why, for charts and exports: pauses, records that a flight
 * recorder evicted because they were older than its window, and the times before and after a time
 * range that was cut out of a capture. Processes that used no runtime are not listed, nor those of
 * which nothing was evicted. cli/unrecorded.h derives what this means for a device. */
#ifndef GPUTAP_EXPORT_UNRECORDED_SPANS_H
#define GPUTAP_EXPORT_UNRECORDED_SPANS_H

#include "capture/capture.h"

struct gt_unrecorded {
	uint64_t start_ns, end_ns;
	uint32_t process;
	bool is_evicted; /* recorded, then evicted; else paused */
	const char *why; /* "--delay", "gputap stop", "older than the window" */
};

/* Sorted by process, then time, without overlap. */
struct gt_unrecorded_list {
	struct gt_unrecorded *spans;
	size_t count, room;
};

/* Return 0 or -ENOMEM with a cause. */
int gt_unrecorded_read(struct gt_unrecorded_list *list, const struct gt_capture *c);
/* Return the entries of one process. */
const struct gt_unrecorded *gt_unrecorded_of(const struct gt_unrecorded_list *list,
					     uint32_t process, size_t *count);
/* Write "not recorded: --delay", "not kept: older than the window" */
enum { GT_UNRECORDED_TEXT = 64 };
const char *gt_unrecorded_text(const struct gt_unrecorded *span, char text[GT_UNRECORDED_TEXT]);
void gt_unrecorded_fini(struct gt_unrecorded_list *list);

#endif
