/* SPDX-License-Identifier: MIT */
/* Find the rank of a process in a job from environment variables of the launcher. */
#ifndef GPUTAP_UTIL_RANK_H
#define GPUTAP_UTIL_RANK_H

#include <stdint.h>

/* X(C name, name, variables for: rank, job size, rank on the host, size on the host). Inner
 * launchers come first, because Slurm may have started torchrun. PMI: MPICH, Intel MPI, MVAPICH,
 * Cray MPICH. */
#define GT_LAUNCHERS(X)                                                                       \
	X(TORCHRUN, "torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")       \
	X(OPEN_MPI, "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",               \
	  "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE")                         \
	X(MVAPICH, "MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",                   \
	  "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE")                           \
	X(PALS, "PALS", "PALS_RANKID", "PALS_SIZE", "PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE")   \
	X(FLUX, "Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "FLUX_TASK_LOCAL_ID", "")          \
	X(JSM, "JSM", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", \
	  "JSM_NAMESPACE_LOCAL_SIZE")                                                         \
	X(PMI, "PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS")           \
	X(PMIX, "PMIx", "PMIX_RANK", "", "", "")                                              \
	X(SLURM, "Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "")

enum gt_launcher {
	GT_LAUNCHER_NONE = 0,
#define X(id, name, rank, size, local_rank, local_size) GT_LAUNCHER_##id,
	GT_LAUNCHERS(X)
#undef X
		GT_LAUNCHER_COUNT
};

/* Rank of a process; -1: unknown. */
struct gt_rank {
	int32_t rank, size;
	int32_t local_rank, local_size; /* among the ranks on its host */
	uint32_t launcher;              /* enum gt_launcher */
};

/**
 * gt_rank_read() - read the rank from the variables of a launcher
 * @environment: as for execve(), or NULL
 * Return: true if the environment has a rank. Signal: safe.
 */
int gt_rank_read(char *const *environment, struct gt_rank *out);

/* Return the rank in this process's environment; -1: none. */
int32_t gt_rank_of_environment(void);

/* Return the name of a launcher, such as "Open MPI", or "" for GT_LAUNCHER_NONE and unknown
 * launchers. */
const char *gt_launcher_name(uint32_t launcher);

#endif
