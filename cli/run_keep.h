/* SPDX-License-Identifier: MIT */
/* gputap run as a flight recorder: --keep, snapshots, triggers. */
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

/* One option. Return: GT_EXIT_OK, or what ui_fail() gave. */
int run_keep_option(struct gt_run_options *o, enum run_keep_option option, const char *value);
/* All are known. @quiet: snapshots are not said. The same. */
int run_keep_check(struct gt_run_options *o, bool quiet);
/* " keep=20s,2G trigger=.." for the capture's line of options; "": none. */
void run_keep_describe(const struct gt_run_options *o, char *text, size_t room);
/* At the end: triggers that came to nothing. */
void run_keep_note(const struct gt_run_result *result);

#endif
