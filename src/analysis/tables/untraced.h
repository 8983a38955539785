/* SPDX-License-Identifier: MIT */
/* Describes programs of the process tree that could not be traced, in a sentence for report, run
 * and recover. */
#ifndef GPUTAP_ANALYSIS_TABLES_UNTRACED_H
#define GPUTAP_ANALYSIS_TABLES_UNTRACED_H

#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"

#define UNTRACED_ALL UINT32_MAX
enum { UNTRACED_TEXT = 1328 }; /* room that suffices for the sentence */

/**
 * untraced_text() - write "2 processes not traced: NAME (why), NAME (why)"; info lists all names
 * @session: index of a session in a merged capture, or UNTRACED_ALL
 * Return: number of untraced processes; 0 and "": none.
 */
uint32_t untraced_text(const struct gt_capture *c, uint32_t session, char *out, size_t room);

#endif
