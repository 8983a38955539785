/* SPDX-License-Identifier: MIT */
/* Messages from one process to another one (GT_JOINT_SENDS, GT_JOINT_RECEIVES): who waited for
 * whose send.
 *
 *   rank 0        MPI_Recv [=====================]        rank 0 waited for rank 1 so long:
 *   rank 1                          MPI_Send [==]         |<--------------->|
 *
 * Of one communicator, sender, receiver and tag, messages do not overtake each other: the n-th that
 * is sent is the n-th that is received. What is received from anybody, with any tag, or by a
 * request that is begun again and again takes some of them, nobody knows which: then no receive of
 * that process in that communicator is compared, and nothing that the process sent by such
 * requests. Neither is a process of which calls are missing.
 *
 * A receive that is only begun waits in the call that completes its request. A request is told by
 * where it is: one that the program has copied elsewhere is not found, and not said. In a call that
 * completes several, and in a kernel of several (ncclGroupEnd), the latest sender was waited for.
 */
#ifndef GPUTAP_CAPTURE_MESSAGES_H
#define GPUTAP_CAPTURE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "record/operation.h"

/* One side of a message. */
struct gt_message {
	uint64_t communicator; /* when matched */
	int32_t source, target, tag;
	bool receives, by_kernel;
	uint8_t request_bytes;    /* of the library that it is of */
	uint32_t process, member; /* index + 1 in struct gt_collectives */
	uint32_t part; /* of the member, + 1: it is none, but a collective call that was begun */
	uint64_t post_ns;
	/* receives: the call, or kernel, that waits; 0: not known. Sends: start_ns is its begin */
	uint64_t wait_id, start_ns, end_ns;
};

struct gt_message_wait {
	uint32_t process, for_process;
	bool by_kernel;
	uint64_t wait_id, start_ns, end_ns, sent_ns;
};

/* Of a member: what of it cannot be compared. */
enum gt_message_doubt { GT_MESSAGES_SENT_UNSURE = 1, GT_MESSAGES_RECEIVED_UNSURE = 2 };

struct gt_message_slot {
	uint64_t address;
	size_t message; /* + 1 */
	uint32_t process;
};

struct gt_messages {
	struct gt_message *list;
	size_t count, room;
	struct gt_message_slot *slots; /* by hash of process and address: receives that are begun */
	size_t slot_count, slot_room;
	/* when matched, by process and wait_id: one each */
	struct gt_message_wait *waits;
	size_t wait_count, wait_room;
};

/* A call that sends or receives. @doubt: += of the member. Return: 0 or -ENOMEM with a cause. */
int gt_messages_note(struct gt_messages *m, const struct gt_item *call, uint32_t member,
		     unsigned *doubt);
/* A part of a member, that the call only begins, + 1. */
int gt_messages_note_part(struct gt_messages *m, const struct gt_item *call, uint32_t member,
			  uint32_t part);
/* A call that completes requests. */
void gt_messages_complete(struct gt_messages *m, const struct gt_item *call);

/* A process's side of a communicator. */
struct gt_message_member {
	uint64_t communicator; /* 0: not known */
	int32_t rank;          /* -1: not known */
	unsigned doubt;
};
/* @find: of a member. Return: 0 or -ENOMEM with a cause. */
int gt_messages_match(struct gt_messages *m,
		      struct gt_message_member (*find)(const void *data, uint32_t member),
		      const void *data);
void gt_messages_fini(struct gt_messages *m);

#endif
