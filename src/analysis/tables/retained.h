/* SPDX-License-Identifier: MIT */
/* Describes flight recorder captures and snapshots for info, report and run. */
#ifndef GPUTAP_ANALYSIS_TABLES_RETAINED_H
#define GPUTAP_ANALYSIS_TABLES_RETAINED_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

enum { RETAINED_TEXT = 512 };

/* Return the number of a session's records that were evicted from the capture. */
uint64_t retained_missing(const struct gt_capture *c, const struct gt_capture_session *s);

/**
 * retained_text() - describe a flight recorder's capture: "the last 20.0 s of 3.03 h; 12,345 older
 * records evicted"
 * Return: true; false, and "", if the session belongs to neither a flight recorder nor a snapshot.
 */
bool retained_text(const struct gt_capture *c, const struct gt_capture_session *s,
		   char text[RETAINED_TEXT]);

/* Return true if a session contains only a part of the records of a time range. Wait targets and
 * causes of idle time are then not known. */
bool retained_is_part(const struct gt_capture *c);

/* Return the word for why these records were written: "end", "command", "signal" and so on. */
const char *retained_reason(const struct gt_retained *k);
/* Return the sum of counts over all classes and domains. */
uint64_t retained_sum(const uint64_t counts[GT_CLASS_COUNT][GT_DOMAIN_COUNT]);

#endif
