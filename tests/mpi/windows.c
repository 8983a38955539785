/* SPDX-License-Identifier: MIT */
/* An MPI job whose ranks start recording at different calls: rank R pauses its recording before
 * MPI_Init() and resumes it before step 2 * R. In each of STEPS steps all ranks meet at a barrier,
 * which rank LATE reaches LATE_MS later, and then on a communicator of all ranks, created during
 * the pause.
 *
 *   windows LIBGPUTAP RANK_VARIABLE STEPS LATE LATE_MS */
#include <dlfcn.h>
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
	void *library = argc > 5 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*pause)(void) = library ? dlsym(library, "gputap_pause") : NULL;
	int (*resume)(void) = library ? dlsym(library, "gputap_resume") : NULL;
	int rank = argc > 5 && getenv(argv[2]) ? atoi(getenv(argv[2])) : -1, sum;
	mpi_handle twin;

	if (!pause || !resume || rank < 0) {
		fprintf(stderr, "%s\n", library ? "no rank" : dlerror());
		return 2;
	}
	if (rank)
		pause();
	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &twin);
	for (int step = 0; step < atoi(argv[3]); step++) {
		if (rank && step == 2 * rank)
			resume();
		work(rank == atoi(argv[4]) ? atof(argv[5]) : 1);
		MPI_Barrier(MPI_COMM_WORLD);
		work(2);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, twin);
	}
	MPI_Finalize();
	return 0;
}
