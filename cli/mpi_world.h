/* SPDX-License-Identifier: MIT */
/* Finds the handle of MPI_COMM_WORLD in a process of this host. MPICH's handle is a constant. Open
 * MPI's is the address of a variable of its library, which differs between processes. */
#ifndef GPUTAP_CLI_MPI_WORLD_H
#define GPUTAP_CLI_MPI_WORLD_H

#include <stdbool.h>
#include <stdint.h>

/* Return true if a handle, of which only the lower half is known, is MPI_COMM_WORLD in the process.
 * Return false also if the process cannot be examined. */
bool mpi_world_is(uint32_t pid, uint32_t handle);

#endif
