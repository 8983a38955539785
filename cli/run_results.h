/* SPDX-License-Identifier: MIT */
/* Messages after the end of a session, for the commands that record. */
#ifndef GPUTAP_CLI_RUN_RESULTS_H
#define GPUTAP_CLI_RUN_RESULTS_H

#include <stdbool.h>

#include "cli/run_options.h"
#include "collector/collector.h"

/**
 * run_results_print() - export the capture if requested, and print the losses and a short report
 * @noted: number of untraced processes that were reported before the session
 * @nothing_seen: explains why no runtime was seen; called instead of the report
 * Return: true if the requested output exists, even if it is incomplete.
 */
bool run_results_print(const struct run_request *r, const struct gt_run_result *result,
		       unsigned noted, void (*nothing_seen)(void *data), void *data);

/* Print the programs that could not be traced, at most a few. */
void run_results_note_not_traced(const char *path);

/* After an error that occurred before anything was traced, print the solution if one is known. */
void run_results_way_out(const struct run_request *r, int error);

/* Add names to the recorded call stacks. */
void run_results_name_stacks(struct run_request *r);
/* Let snapshots of the session have names in their call stacks as well. */
void run_results_name_snapshots(struct run_request *r);

#endif
