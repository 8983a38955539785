/* SPDX-License-Identifier: MIT */
/* gputap run --from RANGE --to RANGE: ranges that start and end the recording window of a
 * process. */
#ifndef GPUTAP_CLI_RUN_RANGES_H
#define GPUTAP_CLI_RUN_RANGES_H

#include <stdio.h>

#include "collector/session_windows.h"

/* Parse "step", "step#3", "layer*#2". Return GT_EXIT_OK, or ui_fail()'s result. */
int run_ranges_option(struct gt_range_bound ranges[GT_RANGE_EDGES], enum gt_range_edge edge,
		      const char *value);
/* Check the options when all are known. Return GT_EXIT_OK, or ui_fail()'s result. */
int run_ranges_check(const struct gt_window_options *w);
/* Print " from=.. to=.." for the capture's options text. */
void run_ranges_describe(const struct gt_range_bound ranges[GT_RANGE_EDGES], FILE *out);

/* At the end of a run, print a note if the recording window never began or never ended. */
void run_ranges_note(const struct gt_range_bound ranges[GT_RANGE_EDGES],
		     const struct gt_ranges_met *met);

#endif
