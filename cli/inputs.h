/* SPDX-License-Identifier: MIT */
/* The captures that a command was given, read as one: which of them can be, and what is to be
 * said about them. */
#ifndef GPUTAP_CLI_INPUTS_H
#define GPUTAP_CLI_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/capture.h"

struct capture_inputs {
	const char **paths; /* of the command line; array freed by inputs_fini() */
	size_t count;
	/* some are no captures: reported; the command exits with 1 after doing what it can */
	bool left_out;
};

/* Of one file, whether it can be read is left to who opens it; of several, those that are no
 * captures are reported and left out, and one that cannot be opened at all ends it. Return: exit
 * code; reported. */
int inputs_choose(struct capture_inputs *in, char **paths, int count);
void inputs_fini(struct capture_inputs *in);

bool inputs_are_same(const char *input, const char *output);
/* An output that would replace a capture that is read. Return: GT_EXIT_USAGE. */
int inputs_report_same(const char *output);
/* A capture without a name, as of an unset variable. Return: GT_EXIT_USAGE. */
int inputs_report_empty(void);

/* What readers should know: sessions that came twice, wall clocks that were trusted. */
void inputs_print_notes(const struct gt_capture *capture);

#endif
