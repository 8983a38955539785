/* SPDX-License-Identifier: MIT */
/* `gputap report --timeline`: what went on when, in the width of a terminal; and its JSON. */
#ifndef GPUTAP_CLI_REPORT_TIMELINE_H
#define GPUTAP_CLI_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stdio.h>

#include "capture/capture.h"

struct report_timeline {
	const char *where; /* NULL: all */
	bool json, mangled;
};

/* Of the records that the capture's filter takes. Return: 0 or negative errno with a cause. */
int report_timeline_print(const struct report_timeline *t, const struct gt_capture *c, FILE *out);

#endif
