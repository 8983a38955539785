/* SPDX-License-Identifier: MIT */
/* An MPI job that hangs after STEPS barriers and an allreduce, because of one rank.
 *
 *   hang HOW RANK STEPS
 *
 * HOW: loop     RANK computes for ever, the others enter a barrier
 *      sleep    RANK sleeps
 *      killed   RANK kills itself with SIGKILL
 *      other    RANK calls MPI_Bcast, the others MPI_Allreduce
 *      recv     RANK receives from the next rank, which sleeps
 *      cycle    all ranks receive from the next
 *      split    in a communicator of the ranks with RANK's parity: RANK sleeps, the others of it
 *               enter a barrier there
 * Each rank writes its pid to the file pid.RANK. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_abi.h"

static int rank, size;

static void write_pid(void)
{
	char name[32];
	FILE *f;

	snprintf(name, sizeof name, "pid.%d", rank);
	f = fopen(name, "w");
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
}

static void stay(const char *how)
{
	if (!strcmp(how, "loop"))
		for (volatile unsigned long n = 0;; n++)
			;
	if (!strcmp(how, "killed"))
		kill(getpid(), SIGKILL);
	for (;;)
		sleep(1000);
}

int main(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[1] : "sleep";
	int culprit = argc > 3 ? atoi(argv[2]) : 0, steps = argc > 3 ? atoi(argv[3]) : 3;
	int sum = 0, got = 0;
	mpi_handle half;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	write_pid();
	for (int i = 0; i < steps; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!strcmp(how, "split")) {
		MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
		MPI_Barrier(half);
		if (rank == culprit || rank % 2 != culprit % 2)
			stay(how);
		MPI_Barrier(half);
	} else if (!strcmp(how, "other")) {
		if (rank == culprit)
			MPI_Bcast(&got, 1, MPI_INT, (rank + 1) % size, MPI_COMM_WORLD);
		else
			MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		stay("sleep");
	} else if (!strcmp(how, "recv") || !strcmp(how, "cycle")) {
		if (!strcmp(how, "cycle") || rank == culprit)
			MPI_Recv(&got, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		stay("sleep");
	} else {
		if (rank == culprit)
			stay(how);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
