/* SPDX-License-Identifier: MIT */
/* What a report says before its tables. */
#ifndef GPUTAP_CLI_REPORT_HEAD_H
#define GPUTAP_CLI_REPORT_HEAD_H

#include <stdio.h>

#include "cli/summary.h"

/* @where: as --where has it, or NULL. @by: SUMMARY_NAME | .., as --by has it; 0: not said. */
void report_head_print(const struct summary *s, const char *where, unsigned by, FILE *out);

/* Of all sessions together: were calls asked for, was device work? */
void report_was_asked(const struct summary *s, bool *calls, bool *device);

/* Is the capture whole, and was everything traced? */
bool report_file_is_complete(const struct summary_file *f);

/* Are all captures so, and is nothing lost? */
bool report_is_complete(const struct summary *s);

#endif
