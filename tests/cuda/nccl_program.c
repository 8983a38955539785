/* SPDX-License-Identifier: MIT */
/* A rank in a job that uses nccl_library.c: runs STEPS steps. In each step, rank LATE sleeps
 * LATE_MS before it calls NCCL.
 *
 *   nccl_program SCENE FILE STEPS LATE LATE_MS     RANK and WORLD_SIZE: its rank, number of ranks
 *
 * SCENE: solo       an all-reduce in each step
 *        group      two all-reduces and a broadcast in a group
 *        split      an all-reduce on a communicator of every second rank
 *        two        a group on two communicators, each with its own stream
 *        shared     like two, with one stream
 *        broadcast  from rank LATE, and then an all-reduce
 *        ring       each rank sends to the next rank and receives from the previous rank
 *        graph      an all-reduce that is captured, then launched in each step */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nccl_ranks.h"
#include "soft/cuda/cuda_api.h"

enum { FLOAT32 = 7, SUM = 0, NUMBERS = 1000 };

#define DO(call)                                                            \
	do {                                                                \
		int status_ = (call);                                       \
		if (status_) {                                              \
			fprintf(stderr, "%s: status %d\n", #call, status_); \
			exit(3);                                            \
		}                                                           \
	} while (0)

static unsigned rank, size;
static CUstream stream, other;
static void *world, *second, *half;

static void reduce(void *comm, CUstream on)
{
	DO(ncclAllReduce(NULL, NULL, NUMBERS, FLOAT32, SUM, comm, on));
}

static void open_device(const char *file)
{
	struct unique_id id = {{0}};
	CUcontext context;
	CUdevice device;

	DO(cuInit(0));
	DO(cuDeviceGet(&device, 0));
	DO(cuCtxCreate_v2(&context, 0, device));
	DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	DO(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	snprintf(id.internal + 8, sizeof id.internal - 8, "%s", file);
	DO(ncclCommInitRank(&world, (int)size, id, (int)rank));
	id.internal[0] = 1;
	DO(ncclCommInitRank(&second, (int)size, id, (int)rank));
	DO(ncclCommSplit(world, (int)rank % 2, (int)rank, &half, NULL));
}

static void step(const char *scene, unsigned late)
{
	if (!strcmp(scene, "group")) {
		DO(ncclGroupStart());
		reduce(world, stream);
		reduce(world, stream);
		DO(ncclBroadcast(NULL, NULL, NUMBERS, FLOAT32, 0, world, stream));
		DO(ncclGroupEnd());
	} else if (!strcmp(scene, "split")) {
		reduce(half, stream);
	} else if (!strcmp(scene, "two") || !strcmp(scene, "shared")) {
		DO(ncclGroupStart());
		reduce(world, stream);
		reduce(second, strcmp(scene, "two") ? stream : other);
		DO(ncclGroupEnd());
	} else if (!strcmp(scene, "broadcast")) {
		DO(ncclBroadcast(NULL, NULL, NUMBERS, FLOAT32, (int)late, world, stream));
		reduce(world, stream);
	} else if (!strcmp(scene, "ring")) {
		DO(ncclGroupStart());
		DO(ncclSend(NULL, NUMBERS, FLOAT32, (int)((rank + 1) % size), world, stream));
		DO(ncclRecv(NULL, NUMBERS, FLOAT32, (int)((rank + size - 1) % size), world,
			    stream));
		DO(ncclGroupEnd());
	} else {
		reduce(world, stream);
	}
}

int main(int argc, char **argv)
{
	unsigned late = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
	int late_us = argc > 5 ? atoi(argv[5]) * 1000 : 0;
	bool captured = argc > 1 && !strcmp(argv[1], "graph");
	CUgraphExec exec = NULL;
	CUgraph graph;

	rank = (unsigned)atoi(getenv("RANK"));
	size = (unsigned)atoi(getenv("WORLD_SIZE"));
	if (argc < 4)
		return 2;
	open_device(argv[2]);
	if (captured) {
		DO(cuStreamBeginCapture_v2(stream, 0));
		reduce(world, stream);
		DO(cuStreamEndCapture(stream, &graph));
		DO(cuGraphInstantiateWithFlags(&exec, graph, 0));
	}
	for (int i = 0; i < atoi(argv[3]); i++) {
		if (rank == late)
			usleep((useconds_t)late_us);
		if (captured)
			DO(cuGraphLaunch(exec, stream));
		else
			step(argv[1], late);
		DO(cuStreamSynchronize(stream));
		DO(cuStreamSynchronize(other));
	}
	DO(ncclCommDestroy(half));
	DO(ncclCommDestroy(second));
	DO(ncclCommDestroy(world));
	return 0;
}
