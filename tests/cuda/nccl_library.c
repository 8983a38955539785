/* SPDX-License-Identifier: MIT */
/* A small NCCL on the software driver. Implements a few of NCCL's calls, whose kernels wait for the
 * kernels of other ranks (nccl_kernels.c). As in NCCL, the calls in a group become one kernel per
 * communicator. Calls that the library itself makes are not calls of the program. NCCL_KERNELS
 * names the module of the kernels. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nccl_ranks.h"
#include "soft/cuda/cuda_api.h"

struct communicator {
	struct shared *all;
	unsigned index, rank, size, calls, splits;
	unsigned sent[RANKS], received[RANKS]; /* messages per peer */
	struct kernel_work *batch;
	CUstream stream;
};

static CUmodule module;
static int groups;
static struct communicator *pending[COMMUNICATORS];

static struct communicator *make(struct shared *all, unsigned index, unsigned rank, unsigned size)
{
	struct communicator *c = calloc(1, sizeof *c);

	if (!module && cuModuleLoad(&module, getenv("NCCL_KERNELS")))
		abort();
	*c = (struct communicator){.all = all, .index = index, .rank = rank, .size = size};
	return c;
}

int ncclGetUniqueId(struct unique_id *id)
{
	(void)id;
	return 0;
}

int ncclCommInitRank(void **comm, int size, struct unique_id id, int rank)
{
	int fd = open(id.internal + 8, O_RDWR | O_CREAT, 0600);
	void *all;

	if (fd < 0 || ftruncate(fd, sizeof(struct shared)))
		return 2;
	all = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (all == MAP_FAILED)
		return 2;
	*comm = make(all, (unsigned)id.internal[0], (unsigned)rank, (unsigned)size);
	return 0;
}

/* Assume that the colour is the rank modulo 2, so that no communication is needed. */
int ncclCommSplit(void *comm, int color, int key, void **made, void *config)
{
	struct communicator *c = comm;
	unsigned size = 0;

	(void)key, (void)config;
	for (unsigned i = (unsigned)color; i < c->size; i += 2)
		size++;
	*made = make(c->all, 4 + 2 * c->splits++ + (unsigned)color, c->rank / 2, size);
	return 0;
}

int ncclCommDestroy(void *comm)
{
	free(comm);
	return 0;
}

int ncclGroupStart(void)
{
	groups++;
	return 0;
}

static int launch(struct communicator *c)
{
	struct kernel_work *work = c->batch;
	void *arguments[] = {&work};
	CUfunction function;

	c->batch = NULL;
	if (cuModuleGetFunction(&function, module,
				work->pieces[0].kind >= SEND
					? "ncclDevKernel_SendRecv"
					: "ncclDevKernel_AllReduce_Sum_f32_RING_LL"))
		abort();
	return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, c->stream, arguments, NULL) ? 1 : 0;
}

int ncclGroupEnd(void)
{
	int status = 0;

	if (--groups)
		return 0;
	for (int i = 0; i < COMMUNICATORS; i++) {
		if (pending[i])
			status |= launch(pending[i]);
		pending[i] = NULL;
	}
	return status;
}

static int add_piece(struct communicator *c, void *stream, struct piece piece)
{
	ncclGroupStart();
	if (!c->batch) {
		/* never freed, because the kernel uses it */
		c->batch = calloc(1, sizeof *c->batch);
		c->batch->shared = &c->all->communicators[c->index];
		c->batch->rank = c->rank;
		c->batch->size = c->size;
		c->stream = stream;
		for (int i = 0; i < COMMUNICATORS; i++)
			if (!pending[i]) {
				pending[i] = c;
				break;
			}
	}
	if (c->batch->count < PIECES)
		c->batch->pieces[c->batch->count++] = piece;
	return ncclGroupEnd();
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm,
		  void *stream)
{
	struct communicator *c = comm;

	(void)from, (void)to, (void)count, (void)type, (void)op;
	return add_piece(c, stream, (struct piece){OF_ALL, c->calls++, 0});
}

int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, void *comm,
		  void *stream)
{
	struct communicator *c = comm;

	(void)from, (void)to, (void)count, (void)type;
	return add_piece(c, stream, (struct piece){FROM_ROOT, c->calls++, (unsigned)root});
}

int ncclSend(const void *from, size_t count, int type, int peer, void *comm, void *stream)
{
	struct communicator *c = comm;

	(void)from, (void)count, (void)type;
	return add_piece(c, stream, (struct piece){SEND, c->sent[peer]++, (unsigned)peer});
}

int ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream)
{
	struct communicator *c = comm;

	(void)to, (void)count, (void)type;
	return add_piece(c, stream, (struct piece){RECEIVE, c->received[peer]++, (unsigned)peer});
}
