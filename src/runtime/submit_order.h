/* SPDX-License-Identifier: MIT */
/* Which call a packet belongs to when the runtime submits from threads of its own (HIP with
 * AMD_DIRECT_DISPATCH=0).
 *
 *   program's thread: launch, copy, set ─ gt_submit_order_add_call() ─► its stream's order of calls
 *                                       ─► the runtime's queue of commands         │
 *                                                  │ in order                      │
 *   the stream's thread: command ─► packet ─► who reserved its number? ─ gt_submit_order_match()
 *                                             A thread that HIP made for that stream:
 *                                             gt_thread.submit_order
 *
 * A link is made when it is certain, else the work stays without a call and shows as not linked:
 *   - which stream a thread of HIP's works for is known from the call that was open when it was
 *     made;
 *   - of a stream's calls the oldest one must fit: a kernel by its name, a copy or fill by an
 *     address that it works on;
 *   - calls of several threads on one stream at the same time have no order: one is taken if it
 *     alone fits. If a kernel fits calls of several threads, it is known how many of them wait
 *     for theirs, but not which: until all of them have theirs, no kernel of that name is
 *     linked, even if only one thread still has calls that wait;
 *   - a copy or fill that may be a further piece of one call as well as the first one of another
 *     is nobody's, and the others' first piece may have been from then on;
 *   - every call that makes work comes by here, recorded or not (GT_SERVICE_ORDER), also in a
 *     pause;
 *   - a piece that may be a further one of a graph's last node as well as the first one of what
 *     is behind the graph is nobody's;
 *   - a graph's launch is one record (`--mode lite`) if all of its packets are certain, from the
 *     first to the last;
 *   - HIP 7 submits most of a graph in the thread that launches it: that is certain, and told to
 *     the launch's entry in the order before what comes behind it; if some of its kernels were
 *     submitted so and others not, the order is not what it seems;
 *   - every packet of the stream's thread is seen here, in turn. One that was not would have
 *     left its call in the order for the next;
 *   - what does not fit, a call that fails (with or without work), a turn that is missing: the
 *     order is not what it seems, and that stream's work is not linked any more, until the
 *     program has waited for all of it, with no other call on the stream meanwhile.
 * It rests on this: a launch that succeeds makes one kernel, a copy or set on a device's memory
 * at least one piece, and a stream's thread submits in the order of the calls, where these have
 * one.
 *
 * HIP's side is hip_order.c and hip_order_match.c; weak, as in runtime/graph_nodes.h. */
#ifndef GPUTAP_RUNTIME_SUBMIT_ORDER_H
#define GPUTAP_RUNTIME_SUBMIT_ORDER_H

#include "runtime/graph_nodes.h"

struct gt_hsa_owner;
struct gt_submit_order;

/* What a packet or copy is. */
struct gt_submitted_work {
	enum gt_graph_part part;
	uint32_t name;                       /* kernels: string id */
	uint64_t destination, source, bytes; /* copies that are no packets; else 0 */
	/* kernels of the runtime's own: their arguments, addresses among them */
	const uint64_t *words;
	uint32_t word_count;
};

/* The order's thread has reserved a packet's number. Return: the packet's turn: first, second, ..
 * of that thread; never 0. */
uint32_t gt_submit_order_reserve_packet(struct gt_submit_order *order) GT_WRAP;

/**
 * gt_submit_order_match() - the call that this work belongs to
 * @work: NULL: a packet that belongs to none, in its turn
 * @turn: the packet's; 0: this is no packet, and its order's thread is here
 * @owner: its id, start, what is moved and the graph's stamp are set; untouched if nothing is
 *         certain
 */
void gt_submit_order_match(struct gt_submit_order *order, const struct gt_submitted_work *work,
			   uint32_t turn, struct gt_hsa_owner *owner) GT_WRAP;

#endif
