/* SPDX-License-Identifier: MIT */
/* Patterns (analysis/patterns/patterns.h) in reports: a sentence for each, and one line of advice
 * where the figures support it. */
#ifndef GPUTAP_CLI_REPORT_PATTERNS_H
#define GPUTAP_CLI_REPORT_PATTERNS_H

#include <stdio.h>

#include "analysis/tables/summary.h"
#include "cli/grid.h"

/* Fill in the table `patterns`. */
void report_make_patterns(struct grid *g, const struct summary *s);
/* Print the patterns that cost most, and the steps of the loop, for the first screen. */
void report_print_patterns(const struct summary *s, FILE *out);

#endif
