/* SPDX-License-Identifier: MIT */
/* Calls that all processes of a communicator make together (struct gt_operation_info.collective),
 * matched over the processes and hosts of a job.
 *
 * A handle means nothing outside its process, so a communicator is identified through its origin:
 *   - one that a process uses without having created it is that of all processes (except MPICH's
 *     MPI_COMM_SELF, 0x44000001; with Open MPI, the first one used);
 *   - one that a collective call created: its parent, the number of that call among those that
 *     created communicators from the parent, and the value that split the processes (role SPLIT);
 *   - one created without a parent, such as NCCL's: the value of role SPLIT.
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

/* A process's handle of a communicator, as long as it refers to the same one. */
struct gt_collective_member {
	uint64_t communicator; /* id of the communicator, same in all processes; 0: not known */
	uint64_t handle;
	uint32_t process;
	int32_t rank;   /* in the communicator; -1: not known */
	uint32_t made;  /* communicators created from it */
	unsigned doubt; /* enum gt_message_doubt */
	struct gt_collective_part *parts;
	size_t count, room;
	struct gt_collective_work *
		/* for each part, when finished; NULL: no kernels execute it, none was only
		 * started */
		work;
};

/* Gaps before recorded calls. */
enum gt_collective_gaps {
	GT_COLLECTIVE_COMPLETE,
	GT_COLLECTIVE_PAUSED, /* calls that create communicators are recorded */
	GT_COLLECTIVE_LOST,   /* those may be missing also: unknown handles stay unknown */
};

struct gt_collectives {
	/* in order of their first use; when finished by communicator and process */
	struct gt_collective_member *members;
	size_t count, room;
	uint32_t *current; /* hash table by process and handle: index of the member + 1 */
	size_t current_count, slot_count;
	size_t parts, parts_most; /* parts_most: upper limit; 0: none */
	bool is_full;
	struct gt_collective_kernels kernels;
	struct gt_messages messages; /* matched when finished */
	/* returns which calls of a process are missing; NULL: none */
	enum gt_collective_gaps (*find_gaps)(const void *data, uint32_t process);
	const void *gaps_data;
};

/**
 * gt_collectives_note() - record a call, if it is a collective call or a message
 * @call: a call; the calls of a process are passed in order of their start, as cursors return them
 * Return: 1 if it is a collective call, 0 if not, -ENOMEM with a cause.
 */
int gt_collectives_note(struct gt_collectives *c, const struct gt_item *call);
/* Record a kernel that gt_collective_kernel_named() accepts. Return 0, -ENOMEM with a cause. */
int gt_collectives_note_kernel(struct gt_collectives *c, const struct gt_item *kernel);
/* Match and sort: from now on, members of one communicator are adjacent. Return 0 or -ENOMEM with a
 * cause. */
int gt_collectives_finish(struct gt_collectives *c);
/* Return the number of members of the communicator whose first member is @first. */
size_t gt_collectives_members(const struct gt_collectives *c, size_t first);
/* Return when the part waited: in its call, its kernel, or the call that completes what it started.
 * False: not known. */
bool gt_collective_times(const struct gt_collective_member *m, size_t part, uint64_t *start_ns,
			 uint64_t *end_ns);
void gt_collectives_fini(struct gt_collectives *c);

#endif
