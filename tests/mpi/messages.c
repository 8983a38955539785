/* SPDX-License-Identifier: MIT */
/* An MPI job of three processes and STEPS messages, each sent MS too late.
 *
 *   messages SCENE STEPS MS
 *
 * SCENE: blocking    rank 0 receives from rank 1, which works for MS before it sends
 *        begun       rank 0 begins to receive from 1 and 2, which work for 2 MS and MS, then waits
 *        any         rank 0 begins to receive from 1 and 2, which work for MS and 2 MS, then waits
 *                    for one message, for the other, and for nothing
 *        one         rank 0 begins to receive from rank 1, which works for MS, then waits
 *        tags        rank 1 sends two tags, MS apart; rank 0 receives the second tag first
 *        exchange    all ranks send to the next and receive from the previous; rank 1 works for MS
 *        anybody     rank 0 receives a message from rank 1 with MPI_ANY_SOURCE
 *        later       all ranks begin to reduce, rank 1 MS later, and then wait
 *        nobody      rank 0 receives from MPI_PROC_NULL, and then as in "blocking" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi_abi.h"

static int rank, size, got[2];

static void work(double ms)
{
	struct timespec t = {(time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000};

	nanosleep(&t, NULL);
}

static void send(int to, int tag)
{
	MPI_Send(&rank, 1, MPI_INT, to, tag, MPI_COMM_WORLD);
}

static void receive(int from, int tag)
{
	MPI_Recv(got, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* @late: the rank that works longer than the other */
static void begun(double ms, int late)
{
	mpi_handle requests[2];
	int index;

	if (rank) {
		work(rank == late ? 2 * ms : ms);
		send(0, 5);
		return;
	}
	for (int i = 0; i < 2; i++)
		MPI_Irecv(&got[i], 1, MPI_INT, i + 1, 5, MPI_COMM_WORLD, &requests[i]);
	if (late == 1)
		MPI_Waitall(2, requests, MPI_STATUS_IGNORE);
	for (int i = 0; late == 2 && i < 3; i++)
		MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void one(double ms)
{
	mpi_handle request;

	if (rank == 1) {
		work(ms);
		send(0, 6);
	} else if (!rank) {
		MPI_Irecv(got, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void tags(double ms)
{
	if (rank == 1) {
		send(0, 1);
		work(ms);
		send(0, 2);
	} else if (!rank) {
		receive(1, 2);
		receive(1, 1);
	}
}

static void later(double ms)
{
	mpi_handle request;
	int sum;

	work(rank == 1 ? ms : 0);
	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void step(const char *scene, double ms)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;

	if (!strcmp(scene, "begun")) {
		begun(ms, 1);
	} else if (!strcmp(scene, "any")) {
		begun(ms, 2);
	} else if (!strcmp(scene, "one")) {
		one(ms);
	} else if (!strcmp(scene, "later")) {
		later(ms);
	} else if (!strcmp(scene, "tags")) {
		tags(ms);
	} else if (!strcmp(scene, "exchange")) {
		work(rank == 1 ? ms : 0);
		MPI_Sendrecv(&rank, 1, MPI_INT, to, 3, got, 1, MPI_INT, from, 3, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	} else if (rank == 1) {
		work(ms);
		send(0, 4);
	} else if (!rank) {
		if (!strcmp(scene, "nobody"))
			receive(MPI_PROC_NULL, 4);
		receive(strcmp(scene, "anybody") ? 1 : MPI_ANY_SOURCE, 4);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < atoi(argv[2]); i++)
		step(argv[1], atof(argv[3]));
	MPI_Finalize();
	return 0;
}
