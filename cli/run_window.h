/* SPDX-License-Identifier: MIT */
/* gputap run: options that select the recorded part of a program's run. */
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

/* Parse a signal that `gputap run` can handle: "USR1", "SIGUSR1", "10", "RTMIN+3". Return
 * GT_EXIT_OK, or ui_fail()'s result. */
int run_signal(const char *option, const char *value, int *out);
/* Parse one option. Return GT_EXIT_OK, or ui_fail()'s result. */
int run_window_option(struct gt_window_options *w, enum run_window_option option,
		      const char *value);
/* Check the options when all are known. Return GT_EXIT_OK, or ui_fail()'s result. */
int run_window_check(const struct gt_window_options *w);
/* Write " delay=.. .." for the capture's options text; "": everything is recorded. */
void run_window_describe(const struct gt_window_options *w, char *text, size_t room);

/* At the end of a run, print a note if the recording window never began, or if recording was never
 * started on request. */
void run_window_note(const struct gt_window_options *w, const char *capture,
		     const struct gt_ranges_met *met);

#endif
