/* SPDX-License-Identifier: MIT */
/* Finds the kernels that execute collective calls of NCCL and RCCL (GT_JOINT_BY_KERNEL).
 *
 *   calls of a thread   1 ncclAllReduce
 *                       2   cuLaunchKernel      launch of calls 1 to 2: its kernels
 *                       3 ncclGroupStart
 *                       4 ncclAllReduce
 *                       5 ncclAllReduce
 *                       6 ncclGroupEnd
 *                       7   cuLaunchKernel      launch of calls 6 to 7: kernels of 4 and 5
 *
 * A launch is a call, or the end of a batch with all calls in the batch. The kernels of a launch
 * are the library's kernels that its calls started. A launch can have fewer kernels than collective
 * calls, because the library fuses some kernels. In a launch for several communicators, each
 * communicator gets the kernels of its streams, or none if two communicators share a stream.
 * Kernels of a graph cannot be attributed.
 *
 * Calls arrive thread by thread, kernels in any order. All are kept, at 40 bytes each, and joined
 * after the last one has arrived. */
#ifndef GPUTAP_CAPTURE_COLLECTIVE_KERNELS_H
#define GPUTAP_CAPTURE_COLLECTIVE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "record/operation.h"

/* The kernels that execute a part of a collective call, or the wait for a call that was only
 * started. */
struct gt_collective_activity {
	uint64_t start_ns, end_ns; /* start and end of the first kernel */
	uint32_t kernels;          /* number of kernels in the launch; 0: unknown */
	bool fused;                /* true if the part shares a launch with the part before it */
};

/* One collective call or message in a launch. */
struct gt_collective_task {
	/* first and last call of the launch; first_id 0: the task was never launched */
	uint64_t first_id, last_id;
	uint64_t stream;
	uint32_t process, member; /* `member`: index + 1 in gt_collectives.members */
	uint32_t part; /* index in the member, or number of a message | GT_COLLECTIVE_MESSAGE */
};

#define GT_COLLECTIVE_MESSAGE UINT32_C(0x80000000)

struct gt_collective_kernel {
	uint64_t id; /* id of the launching call */
	uint64_t start_ns, end_ns, stream;
	uint32_t process;
};

struct gt_collective_kernels {
	struct gt_collective_task *tasks;
	size_t task_count, task_room;
	struct gt_collective_kernel *kernels;
	size_t kernel_count, kernel_room;
	/* number of kernels left out: kernels without call or times, and kernels of graphs */
	size_t unlinked, of_graphs;
	/* thread whose calls are being read */
	uint32_t process, ordinal;
	uint32_t batches;   /* number of nested open batches */
	size_t batch_from;  /* index of the first task in the open batches */
	size_t launch_from; /* index of the first task of the open launch */
	uint32_t launch_depth;
	bool is_launching;
};

/* Return true for the mangled or demangled name of a kernel that belongs to a collectives
 * library. */
bool gt_collective_kernel_named(const char *name);
/* Call once for every call before the functions below. Calls arrive thread by thread, in the order
 * of each thread. */
void gt_collective_kernels_pass(struct gt_collective_kernels *k, const struct gt_item *call);
/* Add a message, or a call that is a part of a member. Return 0 or -ENOMEM with a cause. */
int gt_collective_kernels_add(struct gt_collective_kernels *k, const struct gt_item *call,
			      uint32_t member, uint32_t part);
void gt_collective_kernels_batch(struct gt_collective_kernels *k, const struct gt_item *call,
				 bool opens);
int gt_collective_kernels_note(struct gt_collective_kernels *k, const struct gt_item *kernel);

/* Call @found with the kernels of each part whose kernels are known. */
void gt_collective_kernels_join(struct gt_collective_kernels *k,
				void (*found)(void *to, const struct gt_collective_task *task,
					      const struct gt_collective_activity *activity),
				void *to);
void gt_collective_kernels_fini(struct gt_collective_kernels *k);

#endif
