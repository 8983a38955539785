/* SPDX-License-Identifier: MIT */
/* Of which processes an expression can hold for records: by rank, host and process. */
#ifndef GPUTAP_CLI_FILTER_PROCESS_H
#define GPUTAP_CLI_FILTER_PROCESS_H

#include "capture/capture.h"
#include "cli/filter.h"

/* @processes: a flag for each process of the capture. Return: are there some of which it cannot? */
bool filter_find_processes(const struct filter *f, const struct gt_capture *capture,
			   bool *processes);

#endif
