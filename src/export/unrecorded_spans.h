/* SPDX-License-Identifier: MIT */
/* When processes were not recorded, and why, for pictures and exports: pauses, what a flight
 * recorder threw away because it was older than its window, and the times before and behind a slice
 * that was cut out of a capture. Not a process that used no runtime, nor
 * one of which nothing was thrown away: all of it is there. What that means for a device is said by
 * cli/unrecorded.h. */
#ifndef GPUTAP_EXPORT_UNRECORDED_SPANS_H
#define GPUTAP_EXPORT_UNRECORDED_SPANS_H

#include "capture/capture.h"

struct gt_unrecorded {
	uint64_t start_ns, end_ns;
	uint32_t process;
	bool is_evicted; /* recorded, and not kept; else paused */
	const char *why; /* "--delay", "gputap stop", "older than the window" */
};

/* By process, and of a process in their order, without overlap. */
struct gt_unrecorded_list {
	struct gt_unrecorded *spans;
	size_t count, room;
};

/* Return: 0 or -ENOMEM with a cause. */
int gt_unrecorded_read(struct gt_unrecorded_list *list, const struct gt_capture *c);
/* Those of one process. */
const struct gt_unrecorded *gt_unrecorded_of(const struct gt_unrecorded_list *list,
					     uint32_t process, size_t *count);
/* "not recorded: --delay", "not kept: older than the window" */
enum { GT_UNRECORDED_TEXT = 64 };
const char *gt_unrecorded_text(const struct gt_unrecorded *span, char text[GT_UNRECORDED_TEXT]);
void gt_unrecorded_fini(struct gt_unrecorded_list *list);

#endif
