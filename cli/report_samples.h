/* SPDX-License-Identifier: MIT */
/* Table `host_samples` of reports: what threads did between their calls, by sampled stack. */
#ifndef GPUTAP_CLI_REPORT_SAMPLES_H
#define GPUTAP_CLI_REPORT_SAMPLES_H

#include "cli/grid.h"

struct summary;
/* Add the rows of table `host_samples` to @g, which has these columns. */
enum { SAMPLE_COLUMNS = 8 };
extern const struct grid_column sample_columns[SAMPLE_COLUMNS];
void make_samples(struct grid *g, const struct summary *s);

#endif
