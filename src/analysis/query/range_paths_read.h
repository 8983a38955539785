/* SPDX-License-Identifier: MIT */
/* Reads the ranges of a capture before a filter that uses ranges sees its records. Finds the
 * records in each range (range_paths.h), and the ranges that an expression counts (filter.h). */
#ifndef GPUTAP_ANALYSIS_QUERY_RANGE_PATHS_READ_H
#define GPUTAP_ANALYSIS_QUERY_RANGE_PATHS_READ_H

#include "analysis/query/filter.h"
#include "analysis/query/range_paths.h"
#include "capture/capture.h"

/* Return true if the filter uses ranges. */
static inline bool range_paths_are_needed(const struct filter *f)
{
	return filter_asks(f, FILTER_RANGE) || filter_occurrence_count(f);
}

/**
 * range_paths_read() - make one pass over the capture, and a second pass if threads end each
 * other's ranges
 * @names: receives the names of the ranges; range_paths_names() returns their numbers
 * Return: 0 or negative errno with a cause.
 */
int range_paths_read(struct range_paths *e, struct texts *names, struct filter *f,
		     const struct gt_capture *capture);

#endif
