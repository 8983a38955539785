/* SPDX-License-Identifier: MIT */
/* Device time per operator: each GPU activity belongs to the innermost range in which its call
 * began, and also counts for all ranges around it.
 *
 * A thread's calls and ranges are numbered as they begin, and a range has the last number in it:
 * sorted by thread and number, ranges open and close like brackets around the activities. Memory is
 * bounded: rows are sorted in files. */
#ifndef GPUTAP_CLI_GPU_BY_RANGE_H
#define GPUTAP_CLI_GPU_BY_RANGE_H

#include <stdbool.h>

#include "cli/lookup.h"
#include "cli/spill.h"

struct gpu_by_range_row {
	uint32_t name;             /* the caller's number; LOOKUP_NONE: in no range */
	uint64_t count, host_ns;   /* ranges */
	uint64_t work, self_ns;    /* activities whose innermost range it is */
	uint64_t all_work, all_ns; /* including those in inner ranges */
};

/* Zero-initialised is empty. */
struct gpu_by_range {
	/* the caller sets it if ranges do not exist: then sorting is not needed */
	bool no_ranges;
	/* the caller sets it, may be NULL: called for each GPU activity in a range, in order of
	 * threads and calls, with the name of the innermost range */
	void (*each)(void *data, uint32_t name, uint64_t duration_ns);
	void *each_data;
	/* work */
	struct spill spill;
	struct gpu_by_range_row *rows;
	uint32_t count, room;
	struct idmap by_name;
	uint64_t work; /* activities in a range */
};

/* A range, with the numbers of its first and last calls; a thread's key is unique. */
struct gpu_by_range_range {
	uint64_t thread, first, last, duration_ns;
	uint32_t name;
	bool counts; /* false: it is only around activities */
};
void gpu_by_range_range(struct gpu_by_range *o, const struct gpu_by_range_range *range);
/* Add an activity that the call @id caused; 0: not known. */
void gpu_by_range_work(struct gpu_by_range *o, uint64_t thread, uint64_t id, uint64_t duration_ns);
/* Return: 0 or negative errno with a cause. */
int gpu_by_range_finish(struct gpu_by_range *o);
void gpu_by_range_fini(struct gpu_by_range *o);

#endif
