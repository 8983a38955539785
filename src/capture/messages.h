/* SPDX-License-Identifier: MIT */
/* Matches messages between processes (GT_JOINT_SENDS, GT_JOINT_RECEIVES), to find which process
 * waited for the send of which other process.
 *
 *   rank 0        MPI_Recv [=====================]        rank 0 waited this long for rank 1:
 *   rank 1                          MPI_Send [==]         |<--------------->|
 *
 * Messages with the same communicator, sender, receiver and tag do not overtake each other, so the
 * n-th send matches the n-th receive. A receive from any source, with any tag, or with a persistent
 * request takes an unknown message. If a process makes such a receive in a communicator, none of
 * its receives in that communicator are matched. Likewise, a send with a persistent request
 * disables matching of the process's sends in that communicator. Processes with missing calls are
 * not matched either.
 *
 * A non-blocking receive waits in the call that completes its request. A request is identified by
 * its address. If the program has copied a request, the copy is not recognised, and the wait is not
 * reported. A call that completes several requests, or a kernel for several (ncclGroupEnd), waited
 * for the latest sender. */
#ifndef GPUTAP_CAPTURE_MESSAGES_H
#define GPUTAP_CAPTURE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "record/operation.h"

/* One side of a message. */
struct gt_message {
	uint64_t communicator; /* set by gt_messages_match() */
	int32_t source, target, tag;
	bool receives, by_kernel;
	uint8_t request_bytes;    /* size of a request in the MPI library */
	uint32_t process, member; /* index + 1 in struct gt_collectives */
	/* index of the member's part + 1, for a collective call that was only started; 0: a
	 * message */
	uint32_t part;
	uint64_t post_ns;
	/* receives: id of the call or kernel that waits; 0: unknown. Sends: start_ns is the start
	 * of the send */
	uint64_t wait_id, start_ns, end_ns;
};

struct gt_message_wait {
	uint32_t process, for_process;
	bool by_kernel;
	uint64_t wait_id, start_ns, end_ns, sent_ns;
};

/* Reasons why messages of a member cannot be matched. */
enum gt_message_doubt { GT_MESSAGES_SENT_UNSURE = 1, GT_MESSAGES_RECEIVED_UNSURE = 2 };

struct gt_message_slot {
	uint64_t address;
	size_t message; /* index of the message + 1 */
	uint32_t process;
};

struct gt_messages {
	struct gt_message *list;
	size_t count, room;
	/* hash table of started receives, by process and address */
	struct gt_message_slot *slots;
	size_t slot_count, slot_room;
	/* after matching: one wait per process and wait_id, sorted by both */
	struct gt_message_wait *waits;
	size_t wait_count, wait_room;
};

/* Add a call that sends or receives. @doubt: flags of the member; the function adds to them. Return
 * 0 or -ENOMEM with a cause. */
int gt_messages_note(struct gt_messages *m, const struct gt_item *call, uint32_t member,
		     unsigned *doubt);
/* Add a collective call that is only started. @part: index of the part in the member, + 1. */
int gt_messages_note_part(struct gt_messages *m, const struct gt_item *call, uint32_t member,
			  uint32_t part);
/* Note a call that completes requests. */
void gt_messages_complete(struct gt_messages *m, const struct gt_item *call);

/* A process's membership in a communicator. */
struct gt_message_member {
	uint64_t communicator; /* 0: unknown */
	int32_t rank;          /* -1: unknown */
	unsigned doubt;
};
/* Match the messages. @find: returns a member. Return 0 or -ENOMEM with a cause. */
int gt_messages_match(struct gt_messages *m,
		      struct gt_message_member (*find)(const void *data, uint32_t member),
		      const void *data);
void gt_messages_fini(struct gt_messages *m);

#endif
