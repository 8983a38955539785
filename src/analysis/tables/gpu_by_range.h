/* SPDX-License-Identifier: MIT */
/* Device time per operator. Each GPU activity belongs to the innermost range in which its call
 * began, and is also counted in all enclosing ranges.
 *
 * A thread's calls and ranges are numbered in order of their start, and a range contains the number
 * of its last call. Sorted by thread and number, ranges open and close like brackets around the
 * activities. Memory is bounded: rows are sorted in files. */
#ifndef GPUTAP_ANALYSIS_TABLES_GPU_BY_RANGE_H
#define GPUTAP_ANALYSIS_TABLES_GPU_BY_RANGE_H

#include <stdbool.h>

#include "analysis/base/lookup.h"
#include "analysis/base/sorter.h"

struct gpu_by_range_row {
	uint32_t name;           /* the caller's number of the name; LOOKUP_NONE: in no range */
	uint64_t count, host_ns; /* number of ranges, and total time of these ranges on the host */
	/* number and time of the activities for which this range is the innermost */
	uint64_t activity, self_ns;
	/* number and time of all activities, including those in inner ranges */
	uint64_t all_activity, all_ns;
};

/* Empty if zero-initialised. */
struct gpu_by_range {
	/* The caller sets this field if the capture contains no ranges, so that rows need not be
	 * sorted */
	bool no_ranges;
	/* Set by the caller; may be NULL. Called for each GPU activity in a range, in order of
	 * threads and calls, with the name of the innermost range */
	void (*each)(void *data, uint32_t name, uint64_t duration_ns);
	void *each_data;
	/* Internal state */
	struct sorter sorter;
	struct gpu_by_range_row *rows;
	uint32_t count, room;
	struct idmap by_name;
	uint64_t activity; /* number of activities in a range */
};

/* A range, with the numbers of its first and last calls. Each thread has a unique key. */
struct gpu_by_range_range {
	uint64_t thread, first, last, duration_ns;
	uint32_t name;
	bool counts; /* false: the range only encloses activities and is not itself counted */
};
void gpu_by_range_range(struct gpu_by_range *o, const struct gpu_by_range_range *range);
/* Add an activity that the call @id caused; @id 0: not known. */
void gpu_by_range_activity(struct gpu_by_range *o, uint64_t thread, uint64_t id,
			   uint64_t duration_ns);
/* Compute the results. Return: 0 or negative errno with a cause. */
int gpu_by_range_finish(struct gpu_by_range *o);
void gpu_by_range_fini(struct gpu_by_range *o);

#endif
