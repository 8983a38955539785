/* SPDX-License-Identifier: MIT */
/* An MPI job of STEPS (argument 1) steps: some work, then a barrier, an allreduce and a broadcast,
 * among all processes and on a communicator of every second process. In each step, process LATE
 * (argument 2) works LATE_MS (argument 3) longer. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mpi_abi.h"

static void work(double ms)
{
	struct timespec t = {(time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000};

	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 10, late = argc > 2 ? atoi(argv[2]) : -1;
	double late_ms = argc > 3 ? atof(argv[3]) : 20;
	int rank, size, sum;
	mpi_handle half, twin;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_dup(half, &twin);
	for (int step = 0; step < steps; step++) {
		int one = 1;

		work(rank == late ? late_ms : 1);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, twin);
		MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
		PMPI_Barrier(MPI_COMM_WORLD); /* as in Open MPI's functions for Fortran */
	}
	if (size > 1) {
		mpi_handle request;
		int got, to = (rank + 1) % size, from = (rank + size - 1) % size;

		MPI_Irecv(&got, 1, MPI_INT, from, 7, MPI_COMM_WORLD, &request);
		MPI_Send(&rank, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Comm_free(&twin);
	MPI_Comm_free(&half);
	if (!rank)
		printf("%d of %d\n", sum, size);
	MPI_Finalize();
	return 0;
}
