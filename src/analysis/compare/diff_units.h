/* SPDX-License-Identifier: MIT */
/* Finds the occurrence of a range that contains a record. The outermost occurrences in each thread
 * are kept in memory, 24 bytes each. */
#ifndef GPUTAP_ANALYSIS_COMPARE_DIFF_UNITS_H
#define GPUTAP_ANALYSIS_COMPARE_DIFF_UNITS_H

#include <stdint.h>

#include "analysis/base/lookup.h"
#include "capture/capture.h"

struct diff_unit {
	uint64_t thread, first, last; /* first, last: first and last call in the occurrence */
};

struct diff_units {
	struct diff_unit *units;
	uint32_t count, room, last; /* last: result of the previous search */
};

/* Read the occurrences in one pass over the calls. @pattern: name of the range, with wildcards.
 * Return: 0 or negative errno with a cause. */
int diff_units_read(struct diff_units *u, const struct gt_capture *capture, const char *pattern);
/* Return the unit that contains call @place of @thread (process << 32 | ordinal); LOOKUP_NONE:
 * none. */
uint32_t diff_units_find(struct diff_units *u, uint64_t thread, uint64_t place);
void diff_units_fini(struct diff_units *u);

#endif
