/* SPDX-License-Identifier: MIT */
/* Finds causes of idle time for exporters: runs idle.h over a whole capture,
 * without a report. */
#ifndef GPUTAP_ANALYSIS_IDLE_IDLE_READ_H
#define GPUTAP_ANALYSIS_IDLE_IDLE_READ_H

#include "analysis/idle/idle_parts.h"
#include "capture/capture.h"

struct idle_reading {
	const struct gt_capture *capture;
	bool mangled; /* true: kernel names as recorded */
	/* true: also the parts of gaps that are too small to be visible in a timeline */
	bool all;
	/* selects gaps by the activity that ends them; NULL: the capture's filter */
	gt_item_filter_fn *wants;
	void *wants_data;
	/* memory of each of a few sorts (sorter.h); 0: default */
	size_t packed_most;
	gt_idle_part_fn *each; /* receives the parts; texts are valid until it returns */
	void *to;
};

/* Pass the parts of all selected gaps to @reading->each. Parts of one device come in order of start
 * time. Return 0 or negative errno with a cause. */
int idle_read(const struct idle_reading *reading);

#endif
