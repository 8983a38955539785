/* SPDX-License-Identifier: MIT */
/* The first screen: `gputap run` ends with it and `gputap report` prints it without options. In at
 * most 40 lines: how busy each GPU was and of what time, what took its time, why it was idle and in
 * which call or range, what waited, what failed, and the commands that show more. */
#ifndef GPUTAP_CLI_OVERVIEW_H
#define GPUTAP_CLI_OVERVIEW_H

#include <stdio.h>

#include "cli/summary.h"

struct overview_options {
	const char *path;   /* of the capture that the next commands name; NULL: name none */
	const char *where;  /* filter of the report, or NULL */
	bool full_names;    /* names of kernels are not folded */
	unsigned name_room; /* columns of a kernel's name; 0: the rest of the line */
};

/* Set the keys that a summary needs for the overview. Call before summary_add(). */
void overview_choose_keys(struct summary *s);

/**
 * overview_print() - print the sections after the head of a report
 * @s: finished, with the keys of overview_choose_keys()
 * Return: 0 or negative errno with a cause: the capture cannot be read again.
 */
int overview_print(const struct summary *s, struct gt_capture *capture,
		   const struct overview_options *o, FILE *out);

#endif
