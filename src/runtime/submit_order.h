/* SPDX-License-Identifier: MIT */
/* Links a packet to its call where the runtime submits from its own threads (HIP with
 * AMD_DIRECT_DISPATCH=0): the interface between the folder that knows the calls (HIP) and the
 * folder that creates packets (HSA). Neither includes the other.
 *
 *   program's thread: launch, copy, set ─ gt_submit_order_add_call() ─► its stream's order of calls
 *                                       ─► the runtime's queue of commands         │
 *                                                  │ in order                      │
 *   the stream's thread: command ─► packet ─► who reserved its number? ─ gt_submit_order_match()
 *                                             A thread that HIP created for that stream:
 *                                             gt_thread.submit_order
 *
 * Steps:
 *   1. The program's thread enters a call that submits GPU activities, recorded or not
 *      (GT_SERVICE_ORDER, also in a pause). It adds the call to the end of its stream's order,
 *      under the order's lock.
 *   2. The stream's thread reserves a packet's number. gt_submit_order_reserve_packet() assigns a
 *      sequence number among the packets of that thread, which the packet keeps.
 *   3. The thread that handles the packet (any thread) calls gt_submit_order_match() under the
 *      order's lock, once for each packet of the stream's thread, in sequence. The oldest call that
 *      fits is the submitter.
 *   4. A call whose GPU activities have all been matched leaves the order.
 *
 * A link is made only if it is certain. Otherwise the GPU activity has no call and is shown as not
 * linked:
 *   - A thread of HIP belongs to the stream of the call that was open when the thread was created.
 *   - The oldest call of a stream must fit: a kernel must match its name; a copy or fill must match
 *     an address on which it works.
 *   - Concurrent calls of several threads on one stream have no order. A packet is linked if it
 *     fits exactly one of them. If a kernel fits calls of several threads, it is known how many of
 *     these calls wait for their kernels, but not which ones. Until all of them have their kernels,
 *     kernels of that name are not linked, even if only one thread still has waiting calls.
 *   - If a copy or fill may be either a further part of one call or the first part of another, it
 *     is not linked. From then on the other calls may already have had their first part.
 *   - Likewise, a part is not linked if it may be either a further part of a graph's last node or
 *     the first part of a call after the graph.
 *   - The launch of a graph is one record (`--mode lite`) if all of its packets are certain, from
 *     the first to the last.
 *   - HIP 7 submits most of a graph in the launching thread. Those packets are certain, and the
 *     launch's entry in the order accounts for them before later calls are matched. If only some of
 *     the graph's kernels were submitted that way, the order cannot be trusted.
 *   - Every packet of the stream's thread passes through step 3. If a packet bypassed step 3, its
 *     call would be matched with the next packet.
 *   - The order also cannot be trusted after a packet that fits no call, a call that fails (with or
 *     without GPU activities), or a missing sequence number. GPU activities of that stream are then
 *     not linked until the program has waited for all of them without another call on the stream
 *     meanwhile.
 * These rules assume the following: a successful launch creates one kernel; a copy or set of a
 * device's memory creates at least one packet or copy; and a stream's thread submits in the order
 * of the calls, where one exists.
 *
 * hip_order.c and hip_order_match.c implement HIP's side. */
#ifndef GPUTAP_RUNTIME_SUBMIT_ORDER_H
#define GPUTAP_RUNTIME_SUBMIT_ORDER_H

#include "runtime/graph_nodes.h"

struct gt_submit_order;

/* Call that reserved a packet's number or made a copy. */
struct gt_submitter {
	uint64_t id, start; /* correlation id; start in host ticks */
	/* Bytes that the call moves; 0: not known. If not 0, `source`, `destination` and
	 * `direction` are set. */
	uint64_t bytes;
	struct gt_node_ref node;
	uint64_t source, destination;
	uint32_t direction; /* hipMemcpyKind */
};

/* A packet or copy to be matched. */
struct gt_submitted_activity {
	enum gt_graph_part part;
	uint32_t name;                       /* string id of a kernel's name */
	uint64_t destination, source, bytes; /* for copies that are not packets; otherwise 0 */
	/* arguments of the runtime's own kernels, which include addresses */
	const uint64_t *words;
	uint32_t word_count;
};

struct gt_submit_orders {
	uint32_t (*reserve_packet)(struct gt_submit_order *order);
	void (*match)(struct gt_submit_order *order, const struct gt_submitted_activity *activity,
		      uint32_t sequence, struct gt_submitter *submitter);
};
GT_INTERFACE(gt_submit_orders);

/* Do step 2 in the order's thread. Return the packet's sequence number in that thread, counted from
 * 1, never 0. */
static inline uint32_t gt_submit_order_reserve_packet(struct gt_submit_order *order)
{
	return GT_PROVIDED(gt_submit_orders)->reserve_packet(order);
}

/**
 * gt_submit_order_match() - find the call that submitted a GPU activity (step 3)
 * @work: NULL: a packet that belongs to no call
 * @sequence: sequence number of the packet; 0: not a packet, and the caller is the order's thread
 * @submitter: receives the call; unchanged unless the match is certain
 */
static inline void gt_submit_order_match(struct gt_submit_order *order,
					 const struct gt_submitted_activity *activity,
					 uint32_t sequence, struct gt_submitter *submitter)
{
	GT_PROVIDED(gt_submit_orders)->match(order, activity, sequence, submitter);
}

#endif
