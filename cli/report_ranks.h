/* SPDX-License-Identifier: MIT */
/* Report tables about the ranks of a job. */
#ifndef GPUTAP_CLI_REPORT_RANKS_H
#define GPUTAP_CLI_REPORT_RANKS_H

#include "analysis/tables/summary.h"
#include "cli/grid.h"
#include "cli/report.h"

enum { REPORT_RANK_COLUMNS = 20, REPORT_RANK_SPREAD_COLUMNS = 6, REPORT_RANK_WAIT_COLUMNS = 6 };

extern const struct grid_column report_rank_columns[REPORT_RANK_COLUMNS];
extern const struct grid_column report_rank_spread_columns[REPORT_RANK_SPREAD_COLUMNS];
extern const struct grid_column report_rank_wait_columns[REPORT_RANK_WAIT_COLUMNS];

/* Fill in the table. @g: initialised, without rows */
void report_make_ranks(struct grid *g, const struct summary *s);
void report_make_rank_spread(struct grid *g, const struct summary *s);
void report_make_rank_waits(struct grid *g, const struct summary *s);

#endif
