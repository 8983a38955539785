/* SPDX-License-Identifier: MIT */
/* Losses of a capture, and the headline that reports them. The sentence "nothing lost" is
 * arithmetic: only this code prints it, and only if each of these is zero. */
#ifndef GPUTAP_CLI_LOSSES_H
#define GPUTAP_CLI_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"

struct losses {
	uint64_t dropped;         /* records that were counted but do not exist */
	uint64_t open_ranges;     /* of the program: begun but not ended at its end */
	uint32_t missing, failed; /* events: uncounted records; tools that failed */
	uint32_t untraced;        /* programs that were not traced */
	bool open, damaged;       /* true if a file has no end; if parts cannot be read */
	const char *missing_text; /* of the first such event; the capture owns it */
};

enum { LOSSES_HEADLINE = 128 };

struct losses losses_read(const struct gt_capture *capture);
/* Return true if nothing that was traced is lost, as far as the files show. */
bool losses_are_none(const struct losses *l);
/* Write "nothing lost", "12 lost and others uncounted, 1 tool failed" and the like; "": not known,
 * the file is damaged. */
void losses_headline(const struct losses *l, char text[LOSSES_HEADLINE]);
/* Return advice against losses for that reason; NULL: the reason is enough. */
const char *losses_advice(enum gt_drop_reason why);

#endif
