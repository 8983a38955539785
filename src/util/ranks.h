/* SPDX-License-Identifier: MIT */
/* Collect all launchers' variables about a process's rank, as they are set one after the other. */
#ifndef GPUTAP_UTIL_RANKS_H
#define GPUTAP_UTIL_RANKS_H

#include "util/rank.h"

/* Rank, size, local rank, local size of each launcher; -1: not known. */
struct gt_ranks {
	int32_t numbers[GT_LAUNCHER_COUNT][4];
};

void gt_ranks_read(char *const *environment, struct gt_ranks *out);
/* Note that a variable now has @value; @name ends at its NUL or '='. Return true if it is a
 * launcher's variable. */
int gt_ranks_set(struct gt_ranks *ranks, const char *name, const char *value);
/* Return true if a launcher set a rank; @out is that of the innermost. */
int gt_ranks_choose(const struct gt_ranks *ranks, struct gt_rank *out);

#endif
