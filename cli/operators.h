/* SPDX-License-Identifier: MIT */
/* Device time by operator: each work item belongs to the innermost range that its call
 * was begun in, and counts for all around it too.
 *
 * A thread's calls and ranges are numbered as they begin, and a range says the last number in it:
 * sorted by thread and number, ranges open and close like brackets around the work. Memory is
 * bounded: rows are sorted in files. */
#ifndef GPUTAP_CLI_OPERATORS_H
#define GPUTAP_CLI_OPERATORS_H

#include <stdbool.h>

#include "cli/lookup.h"
#include "cli/spill.h"

struct operators_row {
	uint32_t name;             /* number of the caller's; LOOKUP_NONE: in no range */
	uint64_t count, host_ns;   /* ranges */
	uint64_t work, self_ns;    /* whose innermost range it is */
	uint64_t all_work, all_ns; /* also of the ranges in it */
};

/* Zero-initialised is empty. */
struct operators {
	/* set by the caller: there are no ranges, so that nothing has to be sorted */
	bool no_ranges;
	/* set by the caller, may be NULL: called for each work item that is in a range, in order of
	 * threads and calls, with the name of the innermost one */
	void (*each)(void *data, uint32_t name, uint64_t duration_ns);
	void *each_data;
	/* work */
	struct spill spill;
	struct operators_row *rows;
	uint32_t count, room;
	struct idmap by_name;
	uint64_t work; /* that is in a range */
};

/* A range, with the numbers of its first call and its last one; a thread's key tells it from all
 * others. */
struct operators_range {
	uint64_t thread, first, last, duration_ns;
	uint32_t name;
	bool counts; /* else it is only around work */
};
void operators_range(struct operators *o, const struct operators_range *range);
/* Work that the call @id caused; 0: not known. */
void operators_work(struct operators *o, uint64_t thread, uint64_t id, uint64_t duration_ns);
/* Return: 0 or negative errno with a cause. */
int operators_finish(struct operators *o);
void operators_fini(struct operators *o);

#endif
