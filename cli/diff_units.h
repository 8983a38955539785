/* SPDX-License-Identifier: MIT */
/* Occurrences of a range: which of them is a record in? Of each thread, outermost ones; 24 bytes
 * each, in memory. */
#ifndef GPUTAP_CLI_DIFF_UNITS_H
#define GPUTAP_CLI_DIFF_UNITS_H

#include <stdint.h>

#include "capture/capture.h"
#include "cli/lookup.h"

struct diff_unit {
	uint64_t thread, first, last; /* its calls */
};

struct diff_units {
	struct diff_unit *units;
	uint32_t count, room, last; /* last: that was found */
};

/* One pass over the calls. @pattern: of the range's name, with wildcards. Return: 0 or negative
 * errno with a cause. */
int diff_units_read(struct diff_units *u, const struct gt_capture *capture, const char *pattern);
/* LOOKUP_NONE: in none. @thread: process << 32 | ordinal, @place: a call of it. */
uint32_t diff_units_find(struct diff_units *u, uint64_t thread, uint64_t place);
void diff_units_fini(struct diff_units *u);

#endif
