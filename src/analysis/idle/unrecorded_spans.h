/* SPDX-License-Identifier: MIT */
/* Finds the times in which processes were not recorded, and the reasons, for charts and exports:
 * pauses, records that a flight recorder evicted because they were older than its window, and the
 * times outside a time range that was cut out of a capture. Processes that used no runtime are left
 * out. Evicted times are listed only for processes that lost records to eviction.
 * analysis/idle/unrecorded.h derives the consequences for a device. */
#ifndef GPUTAP_ANALYSIS_IDLE_UNRECORDED_SPANS_H
#define GPUTAP_ANALYSIS_IDLE_UNRECORDED_SPANS_H

#include "capture/capture.h"

struct gt_unrecorded {
	uint64_t start_ns, end_ns;
	uint32_t process;
	bool is_evicted; /* true if recorded and then evicted; false if paused */
	const char *why; /* "--delay", "gputap stop", "older than the window" */
};

/* Sorted by process, then by time; spans do not overlap. */
struct gt_unrecorded_list {
	struct gt_unrecorded *spans;
	size_t count, room;
};

/* Read all spans of a capture. Return 0 or -ENOMEM with a cause. */
int gt_unrecorded_read(struct gt_unrecorded_list *list, const struct gt_capture *c);
/* Return the entries of one process. */
const struct gt_unrecorded *gt_unrecorded_of(const struct gt_unrecorded_list *list,
					     uint32_t process, size_t *count);
/* Write "not recorded: --delay" or "not kept: older than the window". Return @text. */
enum { GT_UNRECORDED_TEXT = 64 };
const char *gt_unrecorded_text(const struct gt_unrecorded *span, char text[GT_UNRECORDED_TEXT]);
void gt_unrecorded_fini(struct gt_unrecorded_list *list);

#endif
