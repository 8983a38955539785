/* SPDX-License-Identifier: MIT */
/* Memory that a job's processes share: a file that nccl_library.c and nccl_kernels.c map. The
 * kernels of a call wait for each other through this memory, as NCCL's kernels do through device
 * memory. */
#ifndef NCCL_RANKS_H
#define NCCL_RANKS_H

#include <stdatomic.h>
#include <stdint.h>

enum { RANKS = 8, CALLS = 1024, COMMUNICATORS = 16, PIECES = 8, ID_BYTES = 128 };

struct shared_communicator {
	atomic_uint arrived[CALLS];
	/* messages from one rank to another */
	atomic_uint sent[RANKS][RANKS], awaited[RANKS][RANKS];
};

struct shared {
	struct shared_communicator communicators[COMMUNICATORS];
};

enum piece_kind { OF_ALL, FROM_ROOT, SEND, RECEIVE };

/* One collective call or message within a kernel. */
struct piece {
	enum piece_kind kind;
	unsigned number, peer; /* index of the collective call or message, and its root or peer */
};

struct kernel_work {
	struct shared_communicator *shared;
	unsigned rank, size, count;
	struct piece pieces[PIECES];
};

struct unique_id {
	char internal[ID_BYTES]; /* a number of 8 bytes, a path */
};

int ncclGetUniqueId(struct unique_id *id);
int ncclCommInitRank(void **comm, int size, struct unique_id id, int rank);
int ncclCommSplit(void *comm, int color, int key, void **made, void *config);
int ncclCommDestroy(void *comm);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int op, void *comm,
		  void *stream);
int ncclBroadcast(const void *from, void *to, size_t count, int type, int root, void *comm,
		  void *stream);
int ncclSend(const void *from, size_t count, int type, int peer, void *comm, void *stream);
int ncclRecv(void *to, size_t count, int type, int peer, void *comm, void *stream);

#endif
