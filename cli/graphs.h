/* SPDX-License-Identifier: MIT */
/* Graphs of a report: how often each was launched, how long a launch took from its first node's
 * start to its last node's end, and for how much of that any of its nodes ran. Memory: a few
 * words for each launch, none for a node. */
#ifndef GPUTAP_CLI_GRAPHS_H
#define GPUTAP_CLI_GRAPHS_H

#include "capture/capture.h"
#include "cli/histogram.h"
#include "cli/lookup.h"
#include "cli/timeline.h"

struct graphs_row {
	uint32_t process;        /* index in the summary */
	uint32_t number;         /* of the graph's object */
	uint64_t nodes, kernels; /* of one launch, as the graph was made; 0: not known */
	uint64_t work;           /* records of all launches */
	uint64_t launches;
	bool whole;             /* launches were recorded as one item each */
	struct histogram times; /* of launches, after graphs_finish() */
	/* of all nodes together: launches of one graph follow each other */
	struct timeline busy;
};

struct graphs_launch {
	uint32_t row;
	uint64_t start_ns, end_ns; /* 0: none of its nodes' times are known */
};

/* Zero-initialised is empty. */
struct graphs {
	struct graphs_row *rows;
	struct graphs_launch *launches;
	uint32_t count, room, launch_count, launch_room;
	struct idmap ids;        /* process << 32 | number -> row */
	struct idmap launch_ids; /* row << 32 | replay -> launch */
};

/* Device work; what is not of a graph is left out. */
void graphs_add(struct graphs *g, const struct gt_capture *capture, const struct gt_item *item);
/* Return: 0 or negative errno with a cause. */
int graphs_finish(struct graphs *g);
void graphs_fini(struct graphs *g);

#endif
