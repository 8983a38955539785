/* SPDX-License-Identifier: MIT */
/* Graphs of a report: how often each was launched, how long a launch took from its first node's
 * start to its last node's end, and for how much of that time any of its nodes ran. Memory: a few
 * words per launch, none per node. */
#ifndef GPUTAP_CLI_GRAPHS_H
#define GPUTAP_CLI_GRAPHS_H

#include "capture/capture.h"
#include "cli/histogram.h"
#include "cli/lookup.h"
#include "cli/timeline.h"

struct graphs_row {
	uint32_t process;        /* index in the summary */
	uint32_t number;         /* the graph object's number */
	uint64_t nodes, kernels; /* per launch, from the graph's creation; 0: not known */
	uint64_t work;           /* records of all launches */
	uint64_t launches;
	bool whole;             /* launches were recorded as one activity each */
	struct histogram times; /* durations of launches, after graphs_finish() */
	/* of all nodes together: launches of one graph follow each other */
	struct timeline busy;
};

struct graphs_launch {
	uint32_t row;
	uint64_t start_ns, end_ns; /* 0: no node's times are known */
};

/* Zero-initialised is empty. */
struct graphs {
	struct graphs_row *rows;
	struct graphs_launch *launches;
	uint32_t count, room, launch_count, launch_room;
	struct idmap ids;        /* process << 32 | number -> row */
	struct idmap launch_ids; /* row << 32 | replay -> launch */
};

/* Add a GPU activity; those that belong to no graph are ignored. */
void graphs_add(struct graphs *g, const struct gt_capture *capture, const struct gt_item *item);
/* Return: 0 or negative errno with a cause. */
int graphs_finish(struct graphs *g);
void graphs_fini(struct graphs *g);

#endif
