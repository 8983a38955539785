/* SPDX-License-Identifier: MIT */
/* Finds causes of idle time for exporters: runs idle.h over a whole capture,
 * without a report. */
#ifndef GPUTAP_ANALYSIS_IDLE_IDLE_READ_H
#define GPUTAP_ANALYSIS_IDLE_IDLE_READ_H

#include "analysis/idle/idle_parts.h"
#include "capture/capture.h"

/* Call @each with the parts of all gaps. Parts of one device come in order of start time. Gaps too
 * small to be visible are left out. A filter of the capture selects the gaps. Texts are valid until
 * @each returns. Return 0 or negative errno with a cause. */
int idle_read(const struct gt_capture *capture, bool mangled, gt_idle_part_fn *each, void *to);

#endif
