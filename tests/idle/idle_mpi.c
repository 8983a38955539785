/* SPDX-License-Identifier: MIT */
/* Idle time of device 0 of the reference accelerator because another rank is late: rank 0 uses the
 * device and waits for rank 1, which is slow. */
#include "soft/refdev/refdev.h"
#include "tests/idle/stamps.h"
#include "tests/mpi/mpi_abi.h"

#define OK(call) EXPECT((call) == refdevSuccess)

static void run_nothing(const refdevGroup *group, const void *arguments)
{
	(void)group;
	(void)arguments;
}

int main(int argc, char **argv)
{
	const refdevDim3 one = {1, 1, 1};
	refdevStream_t stream;
	refdevKernel_t nothing;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	OK(refdevSetDevice(rank));
	OK(refdevStreamCreate(&stream));
	OK(refdevRegisterKernel(&nothing, "nothing", run_nothing));
	for (unsigned i = 0; i < TIMES; i++) {
		uint64_t from;

		MPI_Barrier(MPI_COMM_WORLD);
		OK(refdevLaunchKernel(nothing, one, one, NULL, 0, stream));
		OK(refdevStreamSynchronize(stream));
		if (rank == 1)
			sleep_ms(PROVOKED_MS);
		from = now_ns();
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0)
			say_stamps("collective", from, now_ns());
		OK(refdevLaunchKernel(nothing, one, one, NULL, 0, stream));
		OK(refdevStreamSynchronize(stream));
	}
	MPI_Finalize();
	return 0;
}
