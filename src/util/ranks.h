/* SPDX-License-Identifier: MIT */
/* What all launchers say of a process's rank, where one variable after the other is set. */
#ifndef GPUTAP_UTIL_RANKS_H
#define GPUTAP_UTIL_RANKS_H

#include "util/rank.h"

/* Rank, size, local rank, local size of each launcher; -1: not known. */
struct gt_ranks {
	int32_t numbers[GT_LAUNCHER_COUNT][4];
};

void gt_ranks_read(char *const *environment, struct gt_ranks *out);
/* A variable has @value by now; @name ends at its NUL or '='. Return: true: it is one of the
 * launchers'. */
int gt_ranks_set(struct gt_ranks *ranks, const char *name, const char *value);
/* Return: true: one of the launchers says a rank; @out is that of the innermost. */
int gt_ranks_choose(const struct gt_ranks *ranks, struct gt_rank *out);

#endif
