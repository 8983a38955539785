/* SPDX-License-Identifier: MIT */
/* `gputap run --sample-host`: stacks of threads between their calls. */
#ifndef GPUTAP_CLI_RUN_SAMPLES_H
#define GPUTAP_CLI_RUN_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/collector.h"

/* Parse @value, the time between samples; NULL: 1 ms. Return the exit code. */
int run_samples_option(const char *value, uint64_t *period_ns,
		       bool (*parse_time)(const char *text, uint64_t *ns));
/* Check that the session records calls, without which no thread is known. Return the exit code. */
int run_samples_check(const struct gt_run_options *run);
/* Write " sample-host=1000000ns" for the capture's options text; "" without samples. */
void run_samples_describe(const struct gt_run_options *run, char *text, size_t size);
/* Print the price of sampling, and what could not be sampled. */
void run_samples_note(const struct gt_run_options *run, const struct gt_run_result *result);

#endif
