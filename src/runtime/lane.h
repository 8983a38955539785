/* SPDX-License-Identifier: MIT */
/* Which call a packet belongs to when the runtime submits from threads of its own (HIP with AMD_DIRECT_DISPATCH=0).
 *
 *   program's thread: launch, copy, set ─ gt_lane_push() ─► its stream's lane: calls in order ─► runtime's queue of commands
 *                                                                  │                                     │ in order
 *   HSA's side: who reserved the packet's number? A thread that ───┴─ gt_lane_take() ◄── packet ◄── the stream's thread
 *   HIP made for that stream: gt_thread.lane
 *
 * A link is made when it is certain, else the work stays without a call and shows as not linked:
 *   - which stream a thread of HIP's works for is known from the call that was open when it was made;
 *   - of a stream's calls the oldest one must fit: a kernel by its name, a copy or fill by an address that it works on;
 *   - calls of several threads on one stream at the same time have no order: one is taken if it alone fits;
 *   - what does not fit means that the order is not what it seems: that stream's work is not linked any more, until the program has
 *     waited for all of it.
 *
 * HIP's side is hip_lane.c; weak, as in runtime/graph.h. */
#ifndef GPUTAP_RUNTIME_LANE_H
#define GPUTAP_RUNTIME_LANE_H

#include "runtime/graph.h"

struct gt_hsa_owner;
struct gt_lane;

/* What a packet or copy is. */
struct gt_lane_work {
	enum gt_graph_part part;
	uint32_t name;                 /* kernels: string id */
	uint64_t destination, source, bytes; /* copies that are no packets; else 0 */
	const uint64_t *words;         /* kernels of the runtime's own: their arguments, addresses among them */
	uint32_t word_count;
};

/**
 * gt_lane_take() - the call that this work belongs to
 * @owner: its id, start, what is moved and the graph's stamp are set; untouched if nothing is certain
 * Works of a lane come one after the other.
 */
void gt_lane_take(struct gt_lane *lane, const struct gt_lane_work *work, struct gt_hsa_owner *owner) GT_WRAP;

#endif
