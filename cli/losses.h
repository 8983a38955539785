/* SPDX-License-Identifier: MIT */
/* Losses of a capture, and the headline that reports them. The sentence "nothing lost" is
 * arithmetic: it is written here alone, and only where each of these is zero. */
#ifndef GPUTAP_CLI_LOSSES_H
#define GPUTAP_CLI_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"

struct losses {
	uint64_t dropped;         /* records that were counted and are not there */
	uint64_t open_ranges;     /* of the program: begun, and not ended when it ended */
	uint32_t missing, failed; /* events: records nobody counted; tools that failed */
	uint32_t untraced;        /* programs that were not traced */
	bool open, damaged;       /* a file has no end; parts cannot be read */
	const char *missing_text; /* of the first such event; the capture's */
};

enum { LOSSES_HEADLINE = 128 };

struct losses losses_read(const struct gt_capture *capture);
/* Nothing of what was traced is lost, as far as the files go. */
bool losses_are_none(const struct losses *l);
/* "nothing lost", "12 lost and others uncounted, 1 tool failed", .. "": not known, the file is
 * damaged. */
void losses_headline(const struct losses *l, char text[LOSSES_HEADLINE]);
/* What helps against losses for that reason; NULL: the reason says all. */
const char *losses_advice(enum gt_drop_reason why);

#endif
