/* SPDX-License-Identifier: MIT */
/* Calls that had not returned when the collector last looked at their process: at a snapshot, at
 * the end of the process, or at the end of the session. */
#ifndef GPUTAP_CLI_REPORT_OPEN_H
#define GPUTAP_CLI_REPORT_OPEN_H

#include "analysis/tables/summary.h"
#include "cli/grid.h"

enum { REPORT_OPEN_COLUMNS = 18 };
extern const struct grid_column report_open_columns[REPORT_OPEN_COLUMNS];

/* Fill in the table. @g: initialised, without rows */
void report_make_open(struct grid *g, const struct summary *s);

/* Return the call that encloses @o; NULL: none. The calls of a thread are adjacent, outermost
 * first. @list: result of gt_capture_open_calls() */
static inline const struct gt_open_call_info *open_call_outer(const struct gt_open_call_info *list,
							      const struct gt_open_call_info *o)
{
	return o > list && o[-1].process == o->process && o[-1].ordinal == o->ordinal ? o - 1
										      : NULL;
}

/* Return how long the call had been open; 0: not known. */
static inline uint64_t open_call_duration_ns(const struct gt_open_call_info *o)
{
	return o->start_ns && o->seen_ns > o->start_ns ? o->seen_ns - o->start_ns : 0;
}

#endif
