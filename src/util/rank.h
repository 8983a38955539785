/* SPDX-License-Identifier: MIT */
/* Which rank of a job this process is: what its launcher put into the environment. */
#ifndef GPUTAP_UTIL_RANK_H
#define GPUTAP_UTIL_RANK_H

#include <stdint.h>

/**
 * gt_rank_of_environment() - the rank that torchrun, Open MPI, Slurm, MPICH or PMIx says
 * Return: it, or -1: no launcher says one.
 */
int32_t gt_rank_of_environment(void);

#endif
