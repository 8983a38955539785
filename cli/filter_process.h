/* SPDX-License-Identifier: MIT */
/* Find the processes whose records an expression can match, from rank, host and process. */
#ifndef GPUTAP_CLI_FILTER_PROCESS_H
#define GPUTAP_CLI_FILTER_PROCESS_H

#include "capture/capture.h"
#include "cli/filter.h"

/* @processes: receives a flag for each process of the capture. Return true if it cannot match some
 * of them. */
bool filter_find_processes(const struct filter *f, const struct gt_capture *capture,
			   bool *processes);

#endif
