/* SPDX-License-Identifier: MIT */
/* `gputap report --timeline`: prints a picture over time that fits the terminal, or the picture as
 * JSON. */
#ifndef GPUTAP_CLI_REPORT_TIMELINE_H
#define GPUTAP_CLI_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stdio.h>

#include "capture/capture.h"

struct report_timeline {
	const char *where; /* NULL: all records */
	bool json, mangled;
};

/* Print a picture of the records that match the capture's filter. Return 0 or negative errno with a
 * cause. */
int report_timeline_print(const struct report_timeline *t, const struct gt_capture *c, FILE *out);

#endif
