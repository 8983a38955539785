/* SPDX-License-Identifier: MIT */
/* Messages from one process to another one (GT_JOINT_SENDS, GT_JOINT_RECEIVES): which process
 * waited for the send of which other one.
 *
 *   rank 0        MPI_Recv [=====================]        rank 0 waited for rank 1 so long:
 *   rank 1                          MPI_Send [==]         |<--------------->|
 *
 * Messages with the same communicator, sender, receiver and tag do not overtake each other: the
 * n-th sent is the n-th received. Receives from any source, with any tag, or with a persistent
 * request take unknown ones of them: then receives of that process in that communicator are not
 * matched, nor are sends with persistent requests. Processes with missing calls are not matched
 * either.
 *
 * A non-blocking receive waits in the call that completes its request. The address identifies a
 * request: if the program has copied it, it is not found, and the wait is not reported. A call that
 * completes several requests, or a kernel for several (ncclGroupEnd), waited for the latest
 * sender. */
#ifndef GPUTAP_CAPTURE_MESSAGES_H
#define GPUTAP_CAPTURE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "record/operation.h"

/* One side of a message. */
struct gt_message {
	uint64_t communicator; /* set when matched */
	int32_t source, target, tag;
	bool receives, by_kernel;
	uint8_t request_bytes;    /* size of a request in its MPI library */
	uint32_t process, member; /* index + 1 in struct gt_collectives */
	/* part of the member + 1: not a message, but a collective call that was started */
	uint32_t part;
	uint64_t post_ns;
	/* receives: the call, or kernel, that waits; 0: not known. Sends: start_ns is their
	 * start */
	uint64_t wait_id, start_ns, end_ns;
};

struct gt_message_wait {
	uint32_t process, for_process;
	bool by_kernel;
	uint64_t wait_id, start_ns, end_ns, sent_ns;
};

/* The messages of a member that cannot be matched. */
enum gt_message_doubt { GT_MESSAGES_SENT_UNSURE = 1, GT_MESSAGES_RECEIVED_UNSURE = 2 };

struct gt_message_slot {
	uint64_t address;
	size_t message; /* index + 1 */
	uint32_t process;
};

struct gt_messages {
	struct gt_message *list;
	size_t count, room;
	/* hash table by process and address: receives that were started */
	struct gt_message_slot *slots;
	size_t slot_count, slot_room;
	/* when matched, by process and wait_id: one for each */
	struct gt_message_wait *waits;
	size_t wait_count, wait_room;
};

/* Add a call that sends or receives. @doubt: the member's, added to. Return 0 or -ENOMEM with a
 * cause. */
int gt_messages_note(struct gt_messages *m, const struct gt_item *call, uint32_t member,
		     unsigned *doubt);
/* Add a collective call that is only started. @part: of the member, + 1. */
int gt_messages_note_part(struct gt_messages *m, const struct gt_item *call, uint32_t member,
			  uint32_t part);
/* Note a call that completes requests. */
void gt_messages_complete(struct gt_messages *m, const struct gt_item *call);

/* A process's side of a communicator. */
struct gt_message_member {
	uint64_t communicator; /* 0: not known */
	int32_t rank;          /* -1: not known */
	unsigned doubt;
};
/* Match the messages. @find: finds a member. Return 0 or -ENOMEM with a cause. */
int gt_messages_match(struct gt_messages *m,
		      struct gt_message_member (*find)(const void *data, uint32_t member),
		      const void *data);
void gt_messages_fini(struct gt_messages *m);

#endif
