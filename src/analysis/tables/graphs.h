/* SPDX-License-Identifier: MIT */
/* Graphs of a report: number of launches of each graph, time of a launch from its first node's
 * start to its last node's end, and the part of this time in which any of its nodes ran. Needs a
 * few words of memory for each launch, and none for nodes. */
#ifndef GPUTAP_ANALYSIS_TABLES_GRAPHS_H
#define GPUTAP_ANALYSIS_TABLES_GRAPHS_H

#include "analysis/base/lookup.h"
#include "analysis/tables/histogram.h"
#include "analysis/tables/timeline.h"
#include "capture/capture.h"

struct graphs_row {
	uint32_t process; /* index of the process in the summary */
	uint32_t number;  /* number of the graph object */
	/* numbers of nodes and kernels in a launch, known from the graph's creation; 0: not
	 * known */
	uint64_t nodes, kernels;
	uint64_t activity; /* number of records of all launches */
	uint64_t launches;
	bool whole;             /* true if each launch was recorded as one activity */
	struct histogram times; /* durations of launches, valid after graphs_finish() */
	/* times in which any node ran; launches of one graph do not overlap */
	struct timeline busy;
};

struct graphs_launch {
	uint32_t row;
	uint64_t start_ns, end_ns; /* start and end of the launch; 0: no node has known times */
};

/* Empty if zero-initialised. */
struct graphs {
	struct graphs_row *rows;
	struct graphs_launch *launches;
	uint32_t count, room, launch_count, launch_room;
	struct idmap ids;        /* process << 32 | number -> row */
	struct idmap launch_ids; /* row << 32 | replay -> launch */
};

/* Add a GPU activity. Activities that belong to no graph are ignored. */
void graphs_add(struct graphs *g, const struct gt_capture *capture, const struct gt_item *item);
/* Compute the results. Return: 0 or negative errno with a cause. */
int graphs_finish(struct graphs *g);
void graphs_fini(struct graphs *g);

#endif
