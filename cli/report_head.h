/* SPDX-License-Identifier: MIT */
/* Head of a report, before its tables. */
#ifndef GPUTAP_CLI_REPORT_HEAD_H
#define GPUTAP_CLI_REPORT_HEAD_H

#include <stdio.h>

#include "analysis/tables/summary.h"

/* Print the head. @where: argument of --where, or NULL. @by: bits such as SUMMARY_NAME, from --by;
 * 0: not given. */
void report_head_print(const struct summary *s, const char *where, unsigned by, FILE *out);

/* Set *calls and *device to true if a session requested calls or GPU activities. */
void report_was_asked(const struct summary *s, bool *calls, bool *device);

/* Return true if the capture is complete, and everything was traced. */
bool report_file_is_complete(const struct summary_file *f);

/* Return true if all captures are complete, and nothing was lost. */
bool report_is_complete(const struct summary *s);

#endif
