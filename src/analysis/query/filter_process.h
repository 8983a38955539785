/* SPDX-License-Identifier: MIT */
/* Finds the processes whose records an expression can match, based on rank, host and process. */
#ifndef GPUTAP_ANALYSIS_QUERY_FILTER_PROCESS_H
#define GPUTAP_ANALYSIS_QUERY_FILTER_PROCESS_H

#include "analysis/query/filter.h"
#include "capture/capture.h"

/* @processes: receives a flag for each process of the capture. Return true if the expression cannot
 *             match records of some processes. */
bool filter_find_processes(const struct filter *f, const struct gt_capture *capture,
			   bool *processes);

#endif
