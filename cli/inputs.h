/* SPDX-License-Identifier: MIT */
/* Captures given to a command, read as one capture: chooses the readable captures and reports
 * problems. */
#ifndef GPUTAP_CLI_INPUTS_H
#define GPUTAP_CLI_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/capture.h"

struct capture_inputs {
	const char **paths; /* paths from the command line; inputs_fini() frees the array */
	size_t count;
	/* true if some files are not captures (reported); the command processes the others and
	 * exits with 1 */
	bool left_out;
};

/* Choose the captures. A single file is checked only when it is opened. If there are several files,
 * those that are not captures are reported and skipped. A capture that cannot be opened is an
 * error. Return the exit code; errors are reported. */
int inputs_choose(struct capture_inputs *in, char **paths, int count);
void inputs_fini(struct capture_inputs *in);

bool inputs_are_same(const char *input, const char *output);
/* Report an output file that would replace an input capture. Return GT_EXIT_USAGE. */
int inputs_report_same(const char *output);
/* Report an empty capture name, for example from an unset variable. Return GT_EXIT_USAGE. */
int inputs_report_empty(void);

/* Print notes about sessions that occurred twice and about wall clocks that were trusted. */
void inputs_print_notes(const struct gt_capture *capture);

#endif
