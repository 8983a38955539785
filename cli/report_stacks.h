/* SPDX-License-Identifier: MIT */
/* Table `stacks` of reports: GPU time and long launching calls by the stack that launched them. */
#ifndef GPUTAP_CLI_REPORT_STACKS_H
#define GPUTAP_CLI_REPORT_STACKS_H

#include "cli/grid.h"

struct summary;
/* Add the rows of table `stacks` to @g, which has these columns. */
enum { LAUNCHED_COLUMNS = 8 };
extern const struct grid_column launched_columns[LAUNCHED_COLUMNS];
void make_launched(struct grid *g, const struct summary *s);

#endif
