/* SPDX-License-Identifier: MIT */
/* Ranks that compute, and then wait for each other: what_if_ranks FACTOR. In each round, the kernel
 * "gemm" of rank 1 takes 20 ms times FACTOR, and the kernel "relu" of the other ranks 3 ms. */
#include "soft/refdev/refdev.h"
#include "tests/idle/stamps.h"
#include "tests/mpi/mpi_abi.h"

#define OK(call) EXPECT((call) == refdevSuccess)

enum { ROUNDS = 10 };

static void run(const refdevGroup *group, const void *arguments)
{
	const struct timespec t = {0, *(const long *)arguments};

	(void)group;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

int main(int argc, char **argv)
{
	const refdevDim3 one = {1, 1, 1};
	refdevStream_t stream;
	refdevKernel_t kernel;
	int rank;
	long ns;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	EXPECT(argc == 2);
	ns = rank == 1 ? (long)(20e6 * strtod(argv[1], NULL)) : 3000000;
	OK(refdevSetDevice(0));
	OK(refdevStreamCreate(&stream));
	OK(refdevRegisterKernel(&kernel, rank == 1 ? "gemm" : "relu", run));
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < ROUNDS; i++) {
		OK(refdevLaunchKernel(kernel, one, one, &ns, sizeof ns, stream));
		OK(refdevStreamSynchronize(stream));
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
