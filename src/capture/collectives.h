/* SPDX-License-Identifier: MIT */
/* Calls that all processes of a communicator make together (struct gt_operation_info.collective),
 * matched over the processes and hosts of a job.
 *
 * A handle says nothing outside of its process, so a communicator is told by how it came about:
 *   - the one that a process names without having made it is that of all processes (MPICH's of
 *     the process alone, 0x44000001, is left out; of Open MPI's the first that is named is taken);
 *   - one that a collective call made: its parent, the number of that call among those that made
 *     communicators of the parent, and what the processes were told apart by (role SPLIT);
 *   - one that was made without a parent, as NCCL's: what role SPLIT says.
 * All processes make a communicator's collective calls in the same order: collective_match.h. */
#ifndef GPUTAP_CAPTURE_COLLECTIVES_H
#define GPUTAP_CAPTURE_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "capture/collective_kernels.h"
#include "capture/messages.h"
#include "record/operation.h"

/* One process's part of a call. */
struct gt_collective_part {
	uint64_t start_ns;
	uint32_t op; /* GT_OP() without the count of arguments */
	uint32_t is_root : 1, root_known : 1;
	uint64_t duration_ns;
};

/* A process's handle of a communicator, while it stands for the same one. */
struct gt_collective_member {
	uint64_t communicator; /* same in all processes; 0: not known */
	uint64_t handle;
	uint32_t process;
	int32_t rank;   /* in the communicator; -1: not known */
	uint32_t made;  /* communicators out of it */
	unsigned doubt; /* enum gt_message_doubt */
	struct gt_collective_part *parts;
	size_t count, room;
	struct gt_collective_work *
		work; /* of each part, when finished; NULL: no kernels do it, none was only begun */
};

/* Calls that are missing before others. */
enum gt_collective_gaps {
	GT_COLLECTIVE_COMPLETE,
	GT_COLLECTIVE_PAUSED, /* those that make communicators are there */
	GT_COLLECTIVE_LOST,   /* these, too, may be missing: handles that are not known stay so */
};

struct gt_collectives {
	/* in order of their first use; by communicator and process when finished */
	struct gt_collective_member *members;
	size_t count, room;
	uint32_t *current; /* by hash of process and handle: member + 1 */
	size_t current_count, slot_count;
	size_t parts, parts_most; /* parts_most: no more are kept; 0: all */
	bool is_full;
	struct gt_collective_kernels kernels;
	struct gt_messages messages; /* matched when finished */
	/* what is missing of a process's calls; NULL: nothing */
	enum gt_collective_gaps (*find_gaps)(const void *data, uint32_t process);
	const void *gaps_data;
};

/**
 * gt_collectives_note() - take a call, if it is one of those
 * @call: of a process in order of their begin, as cursors give them
 * Return: 1 it is a collective call, 0 it is none, -ENOMEM with a cause.
 */
int gt_collectives_note(struct gt_collectives *c, const struct gt_item *call);
/* A kernel whose name gt_collective_kernel_named() knows. Return: 0, -ENOMEM with a cause. */
int gt_collectives_note_kernel(struct gt_collectives *c, const struct gt_item *kernel);
/* Members of one communicator stand beside each other from now on. Return: 0 or -ENOMEM with a
 * cause. */
int gt_collectives_finish(struct gt_collectives *c);
/* From @first on: members of the same communicator. */
size_t gt_collectives_members(const struct gt_collectives *c, size_t first);
/* When the part waited: in its call, its kernel, or the call that completes what it has begun.
 * False: not known. */
bool gt_collective_times(const struct gt_collective_member *m, size_t part, uint64_t *start_ns,
			 uint64_t *end_ns);
void gt_collectives_fini(struct gt_collectives *c);

#endif
