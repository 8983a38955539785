/* SPDX-License-Identifier: MIT */
/* The first screen: printed at the end of `gputap run`, and by `gputap report` without options. In
 * at most 40 lines, it shows how busy each GPU was and in which time, the longest activities and
 * calls, causes of idle time with the calls or ranges concerned, waits, failures, and commands that
 * show more. */
#ifndef GPUTAP_CLI_OVERVIEW_H
#define GPUTAP_CLI_OVERVIEW_H

#include <stdio.h>

#include "analysis/tables/summary.h"

struct overview_options {
	const char *path;   /* path of the capture for the suggested commands; NULL: suggest none */
	const char *where;  /* filter of the report; NULL: none */
	bool full_names;    /* true if kernel names are not shortened */
	unsigned name_room; /* number of columns for a kernel's name; 0: rest of the line */
};

/* Set the keys that the overview needs in a summary. Call before summary_add(). */
void overview_choose_keys(struct summary *s);

/**
 * overview_print() - print the sections after the head of a report
 * @s: a finished summary with the keys of overview_choose_keys(); receives the edges of devices
 * Return: 0, or negative errno with a cause if the capture cannot be read again.
 */
int overview_print(struct summary *s, struct gt_capture *capture, const struct overview_options *o,
		   FILE *out);

#endif
