/* SPDX-License-Identifier: MIT */
/* Finds the ranks that keep other ranks waiting in a capture that has open calls: one of a killed
 * or hanging job, or a snapshot. missing_ranks.h makes the verdict. */
#ifndef GPUTAP_ANALYSIS_TABLES_HUNG_RANKS_H
#define GPUTAP_ANALYSIS_TABLES_HUNG_RANKS_H

#include "analysis/tables/rank_sums.h"

/* Set r->hung. Call after all calls were added, and before gt_collectives_finish(), which forgets
 * the communicators to which handles refer. Return 0 or -ENOMEM with a cause. */
int hung_ranks_find(struct ranks *r);

#endif
