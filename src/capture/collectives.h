/* SPDX-License-Identifier: MIT */
/* Matches calls that all processes of a communicator make together (struct
 * gt_operation_info.collective) across the processes and hosts of a job.
 *
 * A handle is valid only inside its process, so the origin of a communicator identifies it:
 *   - one that a process uses without having created it is the communicator of all processes
 *     (except MPICH's MPI_COMM_SELF, 0x44000001; with Open MPI, the first such communicator);
 *   - one that a collective call created is identified by its parent, the number of that call among
 *     those that created communicators from the parent, and the value that split the processes
 *     (role SPLIT);
 *   - one created without a parent, such as NCCL's, is identified through the value of role SPLIT.
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

/* The part of a call that one process made. */
struct gt_collective_part {
	uint64_t start_ns;
	uint32_t op; /* GT_OP() without the count of arguments */
	uint32_t is_root : 1, root_known : 1;
	uint64_t duration_ns;
};

/* The communicator to which a handle of a process refers, until the handle is reused. */
struct gt_collective_member {
	uint64_t communicator; /* id of the communicator, equal in all processes; 0: unknown */
	uint64_t handle;
	uint32_t process;
	int32_t rank;   /* rank in the communicator; -1: unknown */
	uint32_t made;  /* number of communicators created from this one */
	unsigned doubt; /* enum gt_message_doubt */
	struct gt_collective_part *parts;
	size_t count, room;
	struct gt_collective_activity *
		/* one entry per part, when finished; NULL: no part has kernels or was only
		 * started */
		activity;
};

/* Kinds of calls that can be missing before the recorded calls. */
enum gt_collective_gaps {
	GT_COLLECTIVE_COMPLETE,
	/* calls may be missing, but calls that create communicators are recorded */
	GT_COLLECTIVE_PAUSED,
	/* calls that create communicators may be missing too: unknown handles stay unknown */
	GT_COLLECTIVE_LOST,
};

struct gt_collectives {
	/* sorted by first use; after gt_collectives_finish(), sorted by communicator and process */
	struct gt_collective_member *members;
	size_t count, room;
	uint32_t *current; /* hash table by process and handle: member index + 1 */
	size_t current_count, slot_count;
	size_t parts, parts_most; /* parts_most: maximum; 0: no maximum */
	bool is_full;
	struct gt_collective_kernels kernels;
	struct gt_messages messages; /* matched by gt_collectives_finish() */
	/* returns the gaps in the calls of a process; NULL: no gaps */
	enum gt_collective_gaps (*find_gaps)(const void *data, uint32_t process);
	const void *gaps_data;
};

/**
 * gt_collectives_note() - record a call if it is a collective call or a message
 * @call: next call; the caller passes the calls of a process in order of their start, as cursors
 *        return them
 * Return: 1 for a collective call, 0 for any other call, -ENOMEM with a cause.
 */
int gt_collectives_note(struct gt_collectives *c, const struct gt_item *call);
/* Return the member of a process's handle, as used by a call of operation @op, before
 * gt_collectives_finish(). Adds the member if the process used the handle in no call before. NULL:
 * out of memory, with a cause. */
const struct gt_collective_member *gt_collectives_member(struct gt_collectives *c, uint32_t op,
							 uint32_t process, uint64_t handle);
/* Return the id of the communicator of all processes in the domain's library. */
uint64_t gt_collectives_whole(enum gt_domain domain);
/* Record a kernel that gt_collective_kernel_named() accepts. Return 0 or -ENOMEM with a cause. */
int gt_collectives_note_kernel(struct gt_collectives *c, const struct gt_item *kernel);
/* Match and sort. Afterwards the members of a communicator are adjacent. Return 0 or -ENOMEM with a
 * cause. */
int gt_collectives_finish(struct gt_collectives *c);
/* Return the number of members of the communicator whose first member is @first. */
size_t gt_collectives_members(const struct gt_collectives *c, size_t first);
/* Get the interval in which the part waited: in its call, in its kernel, or in the call that
 * completes a started operation. Return false if the time is unknown. */
bool gt_collective_times(const struct gt_collective_member *m, size_t part, uint64_t *start_ns,
			 uint64_t *end_ns);
void gt_collectives_fini(struct gt_collectives *c);

#endif
