/* SPDX-License-Identifier: MIT */
/* Time before a device's first activity and after its last one, and the calls that filled it.
 *
 *      run starts      process starts        first activity   last activity          run ends
 *          |   outside   | calls of the thread |  busy, idle  | calls of the thread |
 *
 * The calls are those of the thread that submitted the first, or the last, activity. Only the
 * blocks of the capture that overlap these times are read. */
#ifndef GPUTAP_CLI_EDGES_H
#define GPUTAP_CLI_EDGES_H

#include <stdint.h>

#include "cli/summary.h"

/* One end of a device's timeline. */
struct edge {
	uint64_t ns;         /* its whole length */
	uint64_t outside_ns; /* part in which the process did not run; 0 if that is not known */
	uint64_t calls_ns;   /* part in which the thread was in calls */
	uint32_t op;         /* operation that most of calls_ns went to; 0: none */
	uint64_t op_ns;
	const char *process; /* name of the process that submitted the activity; NULL: not known */
};

struct device_edges {
	struct edge before, after;
};

/* Fill @out for the first @count tracks of @s, which has one per device. Return: 0 or negative
 * errno with a cause. */
int edges_read(const struct summary *s, struct gt_capture *capture, struct device_edges *out,
	       uint32_t count);

#endif
