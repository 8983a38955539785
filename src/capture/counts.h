/* SPDX-License-Identifier: MIT */
/* Counts as stored in a capture: one struct gt_file_sum for each sum that is not 0. */
#ifndef GPUTAP_CAPTURE_COUNTS_H
#define GPUTAP_CAPTURE_COUNTS_H

#include "capture/capture.h"
#include "capture/format.h"

/* Store the sums that are not 0, unless @sums is NULL. Return their number. */
size_t gt_counts_pack(const struct gt_counts *counts, struct gt_file_sum *sums);
void gt_counts_unpack(const void *sums, size_t bytes, struct gt_counts *counts);

/* Reduce the recorded counts to @here and add the difference to the evicted counts. A sum that
 * @here exceeds stays unchanged, because the reader reports the contradiction. */
void gt_counts_keep(struct gt_counts *counts, const uint64_t here[GT_CLASS_COUNT][GT_DOMAIN_COUNT]);

/* += */
void gt_counts_sum(struct gt_counts *to, const struct gt_counts *what);

#endif
