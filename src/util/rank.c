/* SPDX-License-Identifier: MIT */
#include "util/rank.h"

#include <stdlib.h>

int32_t gt_rank_of_environment(void)
{
	/* torchrun; Open MPI; Slurm; MPICH and its kin; PMIx. The innermost launcher first:
	 * Slurm may have started torchrun. */
	static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
					    "SLURM_PROCID"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *text = getenv(names[i]);
		char *end;
		long rank = text ? strtol(text, &end, 10) : -1;

		if (text && *text && !*end && rank >= 0 && rank <= INT32_MAX)
			return (int32_t)rank;
	}
	return -1;
}
