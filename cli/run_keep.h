/* SPDX-License-Identifier: MIT */
/* gputap run as a flight recorder: --keep, snapshots and triggers. */
#ifndef GPUTAP_CLI_RUN_KEEP_H
#define GPUTAP_CLI_RUN_KEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/collector.h"

enum run_keep_option {
	RUN_KEEP,
	RUN_KEEP_AFTER,
	RUN_TRIGGER,
	RUN_SNAPSHOTS_MOST,
	RUN_SNAPSHOT_SIGNAL,
	RUN_KEEP_OPTIONS
};

/* Parse one option. Return GT_EXIT_OK, or ui_fail()'s result. */
int run_keep_option(struct gt_run_options *o, enum run_keep_option option, const char *value);
/* Check the options when all are known. @quiet: do not print a line for each snapshot. Return
 * GT_EXIT_OK, or ui_fail()'s result. */
int run_keep_check(struct gt_run_options *o, bool quiet);
/* Write " keep=20s,2G trigger=.." for the capture's options text; "": no such option. */
void run_keep_describe(const struct gt_run_options *o, char *text, size_t room);
/* At the end of a run, print a note about each trigger that never fired. */
void run_keep_note(const struct gt_run_result *result);

#endif
