/* SPDX-License-Identifier: MIT */
/* Heat that spreads along a rod, computed with MPI and HIP: the program of the tutorial
 * docs/tutorials/mpi-slurm-hip.md. Each rank owns some blocks of the rod. In each step, a rank
 * exchanges its end points with its neighbours and runs a kernel for each block on its GPU. Then
 * all ranks add up the heat.
 *
 * The program contains a common mistake: the number of blocks per rank is rounded down, and the
 * last rank gets the rest. With the argument "even", the blocks are distributed evenly. Exit status
 * 1 if heat was lost. */
#include <hip/hip_runtime.h>
#include <mpi.h>
#include <roctx/roctx.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#define CHECK(call)                                                                             \
	do {                                                                                    \
		hipError_t error_ = (call);                                                     \
		if (error_ != hipSuccess) {                                                     \
			fprintf(stderr, "mpi_hip: %s: %s\n", #call, hipGetErrorString(error_)); \
			exit(1);                                                                \
		}                                                                               \
	} while (0)

enum { BLOCK = 1024, BLOCKS = 11, STEPS = 20, GROUP = 64 };

/* @from and @to start one point before the block, at the left neighbour of its first point. */
__global__ void diffuse(const float *from, float *to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x + 1;

	to[i] = from[i] + 0.25f * (from[i - 1] - 2 * from[i] + from[i + 1]);
}

static int blocks_of(int rank, int ranks, bool even)
{
	if (even)
		return BLOCKS / ranks + (rank < BLOCKS % ranks);
	return rank < ranks - 1 ? BLOCKS / ranks : BLOCKS - (ranks - 1) * (BLOCKS / ranks);
}

/* Exchange the points at both ends with the neighbours. Received points are stored next to this
 * rank's points. The ends of the rod are insulated: an end point is its own neighbour. */
static void exchange_ends(float *rod, int points, int rank, int ranks)
{
	float ends[2], theirs[2];
	int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	int right = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

	CHECK(hipMemcpy(&ends[0], rod + 1, sizeof(float), hipMemcpyDeviceToHost));
	CHECK(hipMemcpy(&ends[1], rod + points, sizeof(float), hipMemcpyDeviceToHost));
	memcpy(theirs, ends, sizeof theirs);
	MPI_Sendrecv(&ends[0], 1, MPI_FLOAT, left, 0, &theirs[1], 1, MPI_FLOAT, right, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(&ends[1], 1, MPI_FLOAT, right, 1, &theirs[0], 1, MPI_FLOAT, left, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CHECK(hipMemcpy(rod, &theirs[0], sizeof(float), hipMemcpyHostToDevice));
	CHECK(hipMemcpy(rod + points + 1, &theirs[1], sizeof(float), hipMemcpyHostToDevice));
}

/* Return the heat of the whole rod, on every rank. */
static double sum_heat(const float *rod, std::vector<float> &host, int points)
{
	double mine = 0, all;

	CHECK(hipMemcpy(host.data(), rod + 1, points * sizeof(float), hipMemcpyDeviceToHost));
	for (int i = 0; i < points; i++)
		mine += host[i];
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

int main(int argc, char **argv)
{
	bool even = argc > 1 && !strcmp(argv[1], "even");
	int rank, ranks, devices;
	double before, after = 0;
	float *from, *to;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	CHECK(hipGetDeviceCount(&devices));
	CHECK(hipSetDevice(rank % devices));

	int blocks = blocks_of(rank, ranks, even), points = blocks * BLOCK;
	std::vector<float> host(points);
	for (int i = 0; i < points; i++)
		host[i] = rank == 0 && i < BLOCK ? 1.0f : 0.0f;
	CHECK(hipMalloc((void **)&from, (points + 2) * sizeof(float)));
	CHECK(hipMalloc((void **)&to, (points + 2) * sizeof(float)));
	CHECK(hipMemcpy(from + 1, host.data(), points * sizeof(float), hipMemcpyHostToDevice));

	before = sum_heat(from, host, points);
	for (int step = 0; step < STEPS; step++) {
		roctxRangePush("step");
		exchange_ends(from, points, rank, ranks);
		for (int b = 0; b < blocks; b++)
			diffuse<<<BLOCK / GROUP, GROUP>>>(from + b * BLOCK, to + b * BLOCK);
		std::swap(from, to);
		after = sum_heat(from, host, points);
		roctxRangePop();
	}
	if (!rank)
		printf("%d steps on %d ranks: heat %.1f before, %.1f after\n", STEPS, ranks, before,
		       after);
	CHECK(hipFree(from));
	CHECK(hipFree(to));
	MPI_Finalize();
	return fabs(after - before) > 1e-3 * before;
}
