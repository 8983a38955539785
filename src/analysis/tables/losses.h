/* SPDX-License-Identifier: MIT */
/* Losses of a capture, and the headline that reports them. Only this code prints "nothing lost",
 * and only if each of these counts is zero. */
#ifndef GPUTAP_ANALYSIS_TABLES_LOSSES_H
#define GPUTAP_ANALYSIS_TABLES_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"

struct losses {
	uint64_t dropped; /* number of records that were counted but do not exist */
	/* number of program ranges that were still open at the program's end */
	uint64_t open_ranges;
	/* numbers of events that report uncounted losses, and of events that report failed tools */
	uint32_t missing, failed;
	uint32_t untraced; /* number of programs that were not traced */
	/* open: true if a file lacks its end; damaged: true if parts of a file cannot be read */
	bool open, damaged;
	const char *missing_text; /* text of the first event of `missing`; belongs to the capture */
};

enum { LOSSES_HEADLINE = 192 };

struct losses losses_read(const struct gt_capture *capture);
/* Read the losses of one session. Events of no process belong to the first session. */
struct losses losses_read_session(const struct gt_capture *capture, uint32_t session);
/* Return true if the files show no loss of traced data. */
bool losses_are_none(const struct losses *l);
/* Write "nothing lost", "12 lost and others uncounted, 1 tool failed" and the like. "": the losses
 * are not known, because the file is damaged. */
void losses_headline(const struct losses *l, char text[LOSSES_HEADLINE]);
/* Return advice for avoiding losses with this reason; NULL: no advice. */
const char *losses_advice(enum gt_drop_reason why);

#endif
