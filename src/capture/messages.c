/* SPDX-License-Identifier: MIT */
/* See messages.h. */
#include "capture/messages.h"

#include <errno.h>
#include <stdlib.h>

#include "util/error.h"
#include "util/grow.h"

enum {
	MPICH_ANY_SOURCE = -2,
	OPEN_MPI_ANY_SOURCE = -1, /* in MPICH, -1 is MPI_PROC_NULL, which stands for no message */
	ANY_TAG = -1,             /* in both libraries */
	MPICH_REQUEST_BYTES = 4,
	OPEN_MPI_REQUEST_BYTES = 8,
	REQUESTS_MOST = 4096, /* maximum number of requests that are looked up per call */
};

/* Return true for a communicator handle of MPICH or its derivatives. Such a handle is a number that
 * starts with its kind: 01, 10, 11, then 0001 for communicators. Handles of Open MPI are
 * addresses. */
static bool is_mpich(uint64_t communicator)
{
	return communicator >> 30 && communicator >> 32 == 0 && (communicator >> 26 & 0xf) == 1;
}

static size_t find_slot(const struct gt_messages *m, uint32_t process, uint64_t address)
{
	uint64_t h = (address ^ (uint64_t)process << 40) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(h >> 20) & (m->slot_room - 1);

	while (m->slots[at].address &&
	       (m->slots[at].address != address || m->slots[at].process != process))
		at = (at + 1) & (m->slot_room - 1);
	return at;
}

static int grow_slots(struct gt_messages *m)
{
	struct gt_message_slot *old = m->slots;
	size_t room = m->slot_room;

	if (m->slot_count * 2 < m->slot_room)
		return 0;
	m->slots = calloc(room ? room * 2 : 256, sizeof *m->slots);
	if (!m->slots) {
		m->slots = old;
		return gt_error(-ENOMEM, "cannot store the requests of messages");
	}
	m->slot_room = room ? room * 2 : 256;
	for (size_t i = 0; i < room; i++)
		if (old[i].address)
			m->slots[find_slot(m, old[i].process, old[i].address)] = old[i];
	free(old);
	return 0;
}

/* Map the request at @address to the newest message from now on. */
static int add_request(struct gt_messages *m, uint32_t process, uint64_t address)
{
	size_t at;

	if (grow_slots(m))
		return -ENOMEM;
	at = find_slot(m, process, address);
	m->slot_count += !m->slots[at].address;
	m->slots[at] = (struct gt_message_slot){address, m->count, process};
	return 0;
}

static int add_message(struct gt_messages *m, const struct gt_message *message)
{
	struct gt_message *more = gt_grow(m->list, m->count, &m->room, sizeof *more);

	if (!more)
		return gt_error(-ENOMEM, "cannot store messages");
	m->list = more;
	m->list[m->count++] = *message;
	return 0;
}

/* Destination or source of a message. */
struct side {
	int32_t peer, tag;
	bool is_any, is_nobody;
};

static bool find_side(const struct gt_call_view *view, unsigned index, bool receives,
		      struct side *side)
{
	uint64_t peer, tag = 0, communicator = 0;
	bool has_tag;

	if (!gt_call_role(view, GT_ROLE_PEER, index, &peer))
		return false;
	has_tag = gt_call_role(view, GT_ROLE_TAG, index, &tag);
	gt_call_role(view, GT_ROLE_COMMUNICATOR, 0, &communicator);
	*side = (struct side){.peer = (int32_t)peer, .tag = (int32_t)tag};
	if (receives) {
		int any = is_mpich(communicator) ? MPICH_ANY_SOURCE : OPEN_MPI_ANY_SOURCE;

		side->is_any = side->peer == any || (has_tag && side->tag == ANY_TAG);
	}
	side->is_nobody = side->peer < 0 && !side->is_any;
	return true;
}

/* Add one side of a message. @index: index of the message's roles in the call */
static int note_side(struct gt_messages *m, const struct gt_item *call, uint32_t member,
		     unsigned index, bool receives, unsigned *doubt)
{
	const struct gt_call_view view = {call->op, call->args, call->payload, call->payload_bytes};
	unsigned joints = gt_operation(call->op)->joints;
	struct gt_message message = {.receives = receives,
				     .by_kernel = joints & GT_JOINT_BY_KERNEL,
				     .process = call->process,
				     .member = member,
				     .post_ns = call->start_ns,
				     .start_ns = call->start_ns,
				     .end_ns = call->end_ns};
	uint64_t request, communicator = 0;
	struct side side;

	if (!find_side(&view, index, receives, &side)) {
		*doubt |= GT_MESSAGES_SENT_UNSURE | GT_MESSAGES_RECEIVED_UNSURE;
		return 0;
	}
	if (side.is_nobody)
		return 0;
	if (side.is_any || (joints & GT_JOINT_BEGINS && joints & GT_JOINT_COMPLETES)) {
		*doubt |= receives ? GT_MESSAGES_RECEIVED_UNSURE : GT_MESSAGES_SENT_UNSURE;
		return 0;
	}
	gt_call_role(&view, GT_ROLE_COMMUNICATOR, 0, &communicator);
	message.request_bytes =
		is_mpich(communicator) ? MPICH_REQUEST_BYTES : OPEN_MPI_REQUEST_BYTES;
	message.source = receives ? side.peer : -1;
	message.target = receives ? -1 : side.peer;
	message.tag = side.tag;
	if (receives && !(joints & (GT_JOINT_BEGINS | GT_JOINT_BY_KERNEL)))
		message.wait_id = call->id;
	if (add_message(m, &message))
		return -ENOMEM;
	return receives && joints & GT_JOINT_BEGINS &&
			       gt_call_role(&view, GT_ROLE_REQUEST, 0, &request) && request
		       ? add_request(m, call->process, request)
		       : 0;
}

int gt_messages_note(struct gt_messages *m, const struct gt_item *call, uint32_t member,
		     unsigned *doubt)
{
	unsigned joints = gt_operation(call->op)->joints;
	int status = 0;

	if (joints & GT_JOINT_SENDS)
		status = note_side(m, call, member, 0, false, doubt);
	if (!status && joints & GT_JOINT_RECEIVES)
		status = note_side(m, call, member, joints & GT_JOINT_SENDS ? 1 : 0, true, doubt);
	return status;
}

int gt_messages_note_part(struct gt_messages *m, const struct gt_item *call, uint32_t member,
			  uint32_t part)
{
	const struct gt_call_view view = {call->op, call->args, call->payload, call->payload_bytes};
	struct gt_message message = {.process = call->process, .member = member, .part = part};
	uint64_t request, communicator = 0;

	if (!gt_call_role(&view, GT_ROLE_REQUEST, 0, &request) || !request)
		return 0;
	gt_call_role(&view, GT_ROLE_COMMUNICATOR, 0, &communicator);
	message.request_bytes =
		is_mpich(communicator) ? MPICH_REQUEST_BYTES : OPEN_MPI_REQUEST_BYTES;
	return add_message(m, &message) || add_request(m, call->process, request) ? -ENOMEM : 0;
}

/* Complete the message of the request at @index in the array at @first. */
static void complete_one(struct gt_messages *m, const struct gt_item *call, uint64_t first,
			 uint64_t index)
{
	for (unsigned bytes = MPICH_REQUEST_BYTES; bytes <= OPEN_MPI_REQUEST_BYTES;
	     bytes += MPICH_REQUEST_BYTES) {
		size_t at = find_slot(m, call->process, first + index * bytes);
		struct gt_message *message =
			m->slots[at].message ? &m->list[m->slots[at].message - 1] : NULL;

		if (!message || message->request_bytes != bytes)
			continue;
		message->wait_id = call->id;
		message->start_ns = call->start_ns;
		message->end_ns = call->end_ns;
		m->slots[at].message = 0;
		return;
	}
}

void gt_messages_complete(struct gt_messages *m, const struct gt_item *call)
{
	const struct gt_call_view view = {call->op, call->args, call->payload, call->payload_bytes};
	uint64_t first, times, which;

	if (!m->slot_room || !gt_call_role(&view, GT_ROLE_REQUEST, 0, &first) || !first)
		return;
	times = gt_call_role(&view, GT_ROLE_TIMES, 0, &times) ? (uint32_t)times : 1;
	if (gt_call_role(&view, GT_ROLE_WHICH, 0, &which)) {
		if (which < times) /* MPI_UNDEFINED is negative, and so a large number here */
			complete_one(m, call, first, which);
		return;
	}
	for (uint64_t i = 0; i < times && i < REQUESTS_MOST; i++)
		complete_one(m, call, first, i);
}

/* Matching ---------------------------------------------------------------------------------- */

static int compare_messages(const void *a, const void *b)
{
	const struct gt_message *x = a, *y = b;

#define COMPARE(field)            \
	if (x->field != y->field) \
	return x->field < y->field ? -1 : 1
	COMPARE(communicator);
	COMPARE(source);
	COMPARE(target);
	COMPARE(tag);
	COMPARE(receives);
	COMPARE(post_ns);
	COMPARE(wait_id);
#undef COMPARE
	return 0;
}

static bool is_same_way(const struct gt_message *a, const struct gt_message *b)
{
	return a->communicator == b->communicator && a->source == b->source &&
	       a->target == b->target && a->tag == b->tag;
}

/* Move the messages that can be matched to the front, and set the sender and receiver of each. */
static void take_comparable(struct gt_messages *m,
			    struct gt_message_member (*find)(const void *data, uint32_t member),
			    const void *data)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct gt_message *message = &m->list[i];
		struct gt_message_member member = find(data, message->member);

		if (!member.communicator || member.rank < 0 || message->part)
			continue;
		message->communicator = member.communicator;
		if (message->receives)
			message->target = member.rank;
		else
			message->source = member.rank;
		if (member.doubt &
		    (message->receives ? GT_MESSAGES_RECEIVED_UNSURE : GT_MESSAGES_SENT_UNSURE))
			/* the message stays in its position, but its group is not matched */
			message->wait_id = UINT64_MAX;
		m->list[kept++] = *message;
	}
	m->count = kept;
}

static int add_wait(struct gt_messages *m, const struct gt_message *sent,
		    const struct gt_message *received)
{
	struct gt_message_wait *more =
		gt_grow(m->waits, m->wait_count, &m->wait_room, sizeof *more);

	if (!more)
		return gt_error(-ENOMEM, "cannot store messages");
	m->waits = more;
	m->waits[m->wait_count++] = (struct gt_message_wait){.process = received->process,
							     .for_process = sent->process,
							     .by_kernel = received->by_kernel,
							     .wait_id = received->wait_id,
							     .start_ns = received->start_ns,
							     .end_ns = received->end_ns,
							     .sent_ns = sent->start_ns};
	return 0;
}

/* Match messages with the same sender, receiver and tag: sends, then receives, each in order. */
static int match_way(struct gt_messages *m, const struct gt_message *way, size_t count)
{
	size_t sends = 0;

	while (sends < count && !way[sends].receives)
		sends++;
	for (size_t i = 0; i < count; i++)
		if (way[i].wait_id == UINT64_MAX)
			return 0;
	for (size_t i = 0; i < sends && sends + i < count; i++) {
		const struct gt_message *sent = &way[i], *received = &way[sends + i];

		if (received->wait_id && sent->start_ns && received->end_ns &&
		    add_wait(m, sent, received))
			return -ENOMEM;
	}
	return 0;
}

static int compare_waits(const void *a, const void *b)
{
	const struct gt_message_wait *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->wait_id != y->wait_id)
		return x->wait_id < y->wait_id ? -1 : 1;
	return (x->sent_ns < y->sent_ns) - (x->sent_ns > y->sent_ns); /* latest first */
}

int gt_messages_match(struct gt_messages *m,
		      struct gt_message_member (*find)(const void *data, uint32_t member),
		      const void *data)
{
	size_t kept = 0;
	int status = 0;

	take_comparable(m, find, data);
	if (m->count)
		qsort(m->list, m->count, sizeof *m->list, compare_messages);
	for (size_t i = 0, end; i < m->count && !status; i = end) {
		for (end = i; end < m->count && is_same_way(&m->list[i], &m->list[end]); end++)
			;
		status = match_way(m, &m->list[i], end - i);
	}
	if (m->wait_count)
		qsort(m->waits, m->wait_count, sizeof *m->waits, compare_waits);
	for (size_t i = 0; i < m->wait_count; i++)
		if (!i || m->waits[i].process != m->waits[i - 1].process ||
		    m->waits[i].wait_id != m->waits[i - 1].wait_id)
			m->waits[kept++] = m->waits[i];
	m->wait_count = kept;
	return status;
}

void gt_messages_fini(struct gt_messages *m)
{
	free(m->list);
	free(m->slots);
	free(m->waits);
	*m = (struct gt_messages){0};
}
