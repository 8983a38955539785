/* SPDX-License-Identifier: MIT */
/* Collects the rank variables of all launchers, one variable at a time. */
#ifndef GPUTAP_UTIL_RANKS_H
#define GPUTAP_UTIL_RANKS_H

#include "util/rank.h"

/* Rank, size, local rank and local size of each launcher; -1: unknown. */
struct gt_ranks {
	int32_t numbers[GT_LAUNCHER_COUNT][4];
};

void gt_ranks_read(char *const *environment, struct gt_ranks *out);
/* Note that a variable now has @value. @name ends at its NUL or '='. Return true for a variable of
 * a launcher. */
int gt_ranks_set(struct gt_ranks *ranks, const char *name, const char *value);
/* Return true if a launcher set a rank. @out receives the rank of the innermost launcher. */
int gt_ranks_choose(const struct gt_ranks *ranks, struct gt_rank *out);

#endif
