/* SPDX-License-Identifier: MIT */
/* Sentences about a session of `gputap attach`: when gputap came, and what the runtimes could not
 * give to a late tracer. */
#ifndef GPUTAP_CLI_REPORT_LATE_H
#define GPUTAP_CLI_REPORT_LATE_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

enum { REPORT_LATE_TEXT = 256, REPORT_LATE_NAMED = 4 };

/* Write "process 4711, which had run for 3.0 min; nothing before that is recorded". @session: index
 * of a session. Return the number of processes that the session attached to; 0 and "": none. */
uint32_t report_attached_text(const struct gt_capture *c, uint32_t session, char *text,
			      size_t size);

/* Find the first distinct texts of GT_EVENT_LATE, in their order. Borrowed from @c. *more: number
 * of further distinct texts. Return the number of texts. */
size_t report_late_texts(const struct gt_capture *c, const char *texts[REPORT_LATE_NAMED],
			 size_t *more);

#endif
