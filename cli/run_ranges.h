/* SPDX-License-Identifier: MIT */
/* gputap run --from RANGE --to RANGE: where a process's window begins and ends. */
#ifndef GPUTAP_CLI_RUN_RANGES_H
#define GPUTAP_CLI_RUN_RANGES_H

#include <stdio.h>

#include "collector/session_windows.h"

/* "step", "step#3", "layer*#2". Return: GT_EXIT_OK, or what ui_fail() gave. */
int run_ranges_option(struct gt_range_bound ranges[GT_RANGE_EDGES], enum gt_range_edge edge,
		      const char *value);
/* All options are known. The same. */
int run_ranges_check(const struct gt_window_options *w);
/* " from=.. to=.." for the capture's line of options. */
void run_ranges_describe(const struct gt_range_bound ranges[GT_RANGE_EDGES], FILE *out);

/* At the end: a window that never began, or never ended. */
void run_ranges_note(const struct gt_range_bound ranges[GT_RANGE_EDGES],
		     const struct gt_ranges_met *met);

#endif
