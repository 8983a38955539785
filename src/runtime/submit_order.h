/* SPDX-License-Identifier: MIT */
/* Link a packet to its call where the runtime submits from its own threads (HIP with
 * AMD_DIRECT_DISPATCH=0): the interface between the folder that knows the calls (HIP) and the
 * folder that makes packets (HSA). Neither includes the other.
 *
 *   program's thread: launch, copy, set ─ gt_submit_order_add_call() ─► its stream's order of calls
 *                                       ─► the runtime's queue of commands         │
 *                                                  │ in order                      │
 *   the stream's thread: command ─► packet ─► who reserved its number? ─ gt_submit_order_match()
 *                                             A thread that HIP made for that stream:
 *                                             gt_thread.submit_order
 *
 * Steps:
 *   1. The program's thread enters a call that submits GPU activities, recorded or not
 *      (GT_SERVICE_ORDER, also in a pause): it adds the call to the end of its stream's order,
 *      under the order's lock.
 *   2. The stream's thread reserves a packet's number. gt_submit_order_reserve_packet() numbers the
 *      packets of that thread; the packet keeps that sequence number.
 *   3. The thread that handles the packet (any thread) calls gt_submit_order_match() under the
 *      order's lock, once for each packet of the stream's thread and in their sequence. The oldest
 *      call that fits is the submitter.
 *   4. A call whose GPU activities have all been matched leaves the order.
 *
 * A link is made only when it is certain. Otherwise the GPU activity has no call and shows as not
 * linked:
 *   - A thread of HIP's belongs to the stream of the call that was open when the thread was
 *     created.
 *   - The oldest call of a stream must fit: a kernel must match its name, a copy or fill an address
 *     that it works on.
 *   - Calls that several threads make on one stream at the same time have no order. A packet is
 *     linked if it fits exactly one of them. If a kernel fits calls of several threads, it is known
 *     how many of them wait for their kernels, but not which ones. Until all of them have theirs,
 *     no kernel of that name is linked, even if only one thread still has waiting calls.
 *   - If a copy or fill may be a further part of one call as well as the first part of another, it
 *     is not linked, and from then on the other calls may already have had their first part.
 *   - The same holds for a part that may be a further one of a graph's last node as well as the
 *     first one of a call after the graph.
 *   - A graph's launch is one record (`--mode lite`) if all of its packets are certain, from the
 *     first to the last.
 *   - HIP 7 submits most of a graph in the launching thread. Those packets are certain, and the
 *     launch's entry in the order accounts for them before later calls are matched. If some of its
 *     kernels were submitted that way and others were not, the order cannot be trusted.
 *   - Every packet of the stream's thread passes through step 3. A packet that did not would leave
 *     its call to the next packet.
 *   - The order also cannot be trusted after a packet that fits no call, a call that fails (with or
 *     without GPU activities), or a missing sequence number. GPU activities of that stream are then
 *     not linked until the program has waited for all of them with no other call on the stream
 *     meanwhile.
 * These assumptions are needed: a launch that succeeds makes one kernel, a copy or set on a
 * device's memory makes at least one packet or copy, and a stream's thread submits in the order of
 * the calls, where these have one.
 *
 * HIP's side is hip_order.c and hip_order_match.c. */
#ifndef GPUTAP_RUNTIME_SUBMIT_ORDER_H
#define GPUTAP_RUNTIME_SUBMIT_ORDER_H

#include "runtime/graph_nodes.h"

struct gt_submit_order;

/* Call that reserved a packet's number, or made a copy. */
struct gt_submitter {
	uint64_t id, start; /* correlation id, host ticks of its start */
	/* bytes that the call moves; 0: not known. If not 0, `source`, `destination` and
	 * `direction` are set */
	uint64_t bytes;
	struct gt_node_ref node;
	uint64_t source, destination;
	uint32_t direction; /* hipMemcpyKind */
};

/* A packet or copy to be matched. */
struct gt_submitted_work {
	enum gt_graph_part part;
	uint32_t name;                       /* kernels: string id */
	uint64_t destination, source, bytes; /* copies that are not packets; else 0 */
	/* the runtime's own kernels: their arguments, which include addresses */
	const uint64_t *words;
	uint32_t word_count;
};

struct gt_submit_orders {
	uint32_t (*reserve_packet)(struct gt_submit_order *order);
	void (*match)(struct gt_submit_order *order, const struct gt_submitted_work *work,
		      uint32_t sequence, struct gt_submitter *submitter);
};
GT_INTERFACE(gt_submit_orders);

/* Step 2, in the order's thread. Return the packet's sequence number in that thread: 1, 2, 3 and so
 * on, never 0. */
static inline uint32_t gt_submit_order_reserve_packet(struct gt_submit_order *order)
{
	return GT_PROVIDED(gt_submit_orders)->reserve_packet(order);
}

/**
 * gt_submit_order_match() - step 3: find the call that submitted a GPU activity
 * @work: NULL: a packet that belongs to no call
 * @sequence: the packet's; 0: not a packet, and the caller is the order's thread
 * @submitter: receives the call; untouched unless the match is certain
 */
static inline void gt_submit_order_match(struct gt_submit_order *order,
					 const struct gt_submitted_work *work, uint32_t sequence,
					 struct gt_submitter *submitter)
{
	GT_PROVIDED(gt_submit_orders)->match(order, work, sequence, submitter);
}

#endif
