/* SPDX-License-Identifier: MIT */
/* Finds the time before a device's first activity and after its last activity, and the calls that
 * filled this time.
 *
 *      run starts      process starts        first activity   last activity          run ends
 *          |   outside   | calls of the thread |  busy, idle  | calls of the thread |
 *
 * The calls are made by the thread that submitted the first or the last activity. Only blocks of
 * the capture that overlap these times are read. */
#ifndef GPUTAP_ANALYSIS_TABLES_EDGES_H
#define GPUTAP_ANALYSIS_TABLES_EDGES_H

#include <stdint.h>

#include "analysis/tables/summary.h"

/* One end of a device's timeline. */
struct edge {
	uint64_t ns;         /* length of the edge */
	uint64_t outside_ns; /* time in which the process did not run; 0 if not known */
	uint64_t calls_ns;   /* time in which the thread was in calls */
	const char *call;    /* name of the call that took the largest part; NULL: none */
	uint64_t call_ns;    /* that part of calls_ns */
	const char *process; /* name of the process that submitted the activity; NULL: not known */
};

struct device_edges {
	struct edge before, after;
};

/* Fill in @out for the first @count tracks of @s, which has one track per device. Return: 0 or
 * negative errno with a cause. */
int edges_read(const struct summary *s, struct gt_capture *capture, struct device_edges *out,
	       uint32_t count);

/* Read the edges of all tracks into s->edges, unless they are known or the capture does not contain
 * the whole run. Return: 0 or negative errno with a cause. */
int edges_keep(struct summary *s, struct gt_capture *capture);

#endif
