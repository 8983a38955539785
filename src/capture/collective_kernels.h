/* SPDX-License-Identifier: MIT */
/* Which kernels on devices do the collective calls of NCCL, RCCL (GT_JOINT_BY_KERNEL).
 *
 *   calls of a thread   1 ncclAllReduce
 *                       2   cuLaunchKernel      launch of calls 1 to 2: its kernels
 *                       3 ncclGroupStart
 *                       4 ncclAllReduce
 *                       5 ncclAllReduce
 *                       6 ncclGroupEnd
 *                       7   cuLaunchKernel      launch of calls 6 to 7: kernels of 4 and 5
 *
 * A launch is a call, or the end of a batch with all that was called in it. A kernel of the
 * library's that was launched by a call in it is one of its kernels; they need not be as many as
 * there were calls, for the library fuses some. In a launch for several communicators each has the
 * kernels of its streams, and none where two of them share one. Nobody knows whose kernels those of
 * a graph are.
 *
 * Calls come thread by thread, kernels in any order: all is kept, 40 bytes for each, and joined
 * when there are no more. */
#ifndef GPUTAP_CAPTURE_COLLECTIVE_KERNELS_H
#define GPUTAP_CAPTURE_COLLECTIVE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "record/operation.h"

/* What kernels did of a part of a collective call; or the wait for one that was only begun. */
struct gt_collective_work {
	uint64_t start_ns, end_ns; /* of the first kernel */
	uint32_t kernels;          /* of its launch; 0: not known */
	bool fused;                /* in the same launch as the part before it */
};

/* A call that a launch does. */
struct gt_collective_task {
	uint64_t first_id, last_id; /* calls of its launch; first_id 0: never launched */
	uint64_t stream;
	uint32_t process, member; /* index + 1 in struct gt_collectives */
	uint32_t part;            /* of the member, or a message's number | GT_COLLECTIVE_MESSAGE */
};

#define GT_COLLECTIVE_MESSAGE UINT32_C(0x80000000)

struct gt_collective_kernel {
	uint64_t id; /* of the call that launched it */
	uint64_t start_ns, end_ns, stream;
	uint32_t process;
};

struct gt_collective_kernels {
	struct gt_collective_task *tasks;
	size_t task_count, task_room;
	struct gt_collective_kernel *kernels;
	size_t kernel_count, kernel_room;
	size_t unlinked, of_graphs; /* kernels that are not kept */
	/* of the thread whose calls are read */
	uint32_t process, ordinal;
	uint32_t batches;   /* that are open, one in the other */
	size_t batch_from;  /* first task in them */
	size_t launch_from; /* tasks of the launch that is open */
	uint32_t launch_depth;
	bool is_launching;
};

/* Is it a kernel of a library of collectives, mangled or not? */
bool gt_collective_kernel_named(const char *name);
/* Before the call is noted otherwise; of all calls, a thread's one after the other. */
void gt_collective_kernels_pass(struct gt_collective_kernels *k, const struct gt_item *call);
/* The call is a part of a member, or a message. Return: 0 or -ENOMEM with a cause. */
int gt_collective_kernels_add(struct gt_collective_kernels *k, const struct gt_item *call,
			      uint32_t member, uint32_t part);
void gt_collective_kernels_batch(struct gt_collective_kernels *k, const struct gt_item *call,
				 bool opens);
int gt_collective_kernels_note(struct gt_collective_kernels *k, const struct gt_item *kernel);

/* Calls @found with what is known of each part. */
void gt_collective_kernels_join(struct gt_collective_kernels *k,
				void (*found)(void *to, const struct gt_collective_task *task,
					      const struct gt_collective_work *work),
				void *to);
void gt_collective_kernels_fini(struct gt_collective_kernels *k);

#endif
