/* SPDX-License-Identifier: MIT */
/* gputap run: which part of the program's life is recorded. */
#ifndef GPUTAP_CLI_RUN_WINDOW_H
#define GPUTAP_CLI_RUN_WINDOW_H

#include <stddef.h>

#include "collector/session_windows.h"

enum run_window_option {
	RUN_PAUSED,
	RUN_DELAY,
	RUN_DURATION,
	RUN_MAX_KERNELS,
	RUN_START_SIGNAL,
	RUN_STOP_SIGNAL,
	RUN_FROM,
	RUN_TO,
};

/* "USR1", "SIGUSR1", "10", "RTMIN+3": a signal that `gputap run` can take. The same. */
int run_signal(const char *option, const char *value, int *out);
/* One option. Return: GT_EXIT_OK, or what ui_fail() gave. */
int run_window_option(struct gt_window_options *w, enum run_window_option option,
		      const char *value);
/* All are known. The same. */
int run_window_check(const struct gt_window_options *w);
/* " delay=.. .." for the capture's line of options; "": all is recorded. */
void run_window_describe(const struct gt_window_options *w, char *text, size_t room);

/* At the end: a window that never began, or was never asked for. */
void run_window_note(const struct gt_window_options *w, const char *capture,
		     const struct gt_ranges_met *met);

#endif
