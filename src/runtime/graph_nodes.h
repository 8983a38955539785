/* SPDX-License-Identifier: MIT */
/* Which node of which launch of a graph a packet is: the interface between the folder that knows
 * graphs (HIP) and the folder that makes packets (HSA). Neither includes the other.
 *
 *   hipGraphLaunch ── gt_thread.graph ──► packet number reserved: gt_graph_assign_node()
 *                                         copy submitted:         gt_graph_assign_copy()
 *                                                                        │ node reference
 *                                                                        ▼
 *                                         packet handled, by any thread:
 *                                         record {graph, replay, ordinal}, or a part of the span
 *
 * Steps of a launch, all in the thread that launches but 4 and 5:
 *   1. HIP embeds a struct gt_graph_launch in its own and sets gt_thread.graph (plain store; only
 *      this thread reads it).
 *   2. Each time that the thread reserves a packet's number, HSA calls gt_graph_assign_node().
 *      The thread reserves numbers in the order of the graph's nodes, and has written the packet
 *      before when it reserves the next one. HIP looks at that one (gt_packet_kernel()), moves its
 *      place in the order over it, and says which node the new packet is. What the packet is
 *      (a kernel of the program, a copy or a fill made of kernels, a barrier) is known only when
 *      it is handled, so a reference has a node for each of these.
 *   3. HIP 7 reserves many numbers at a time. Their references are made when all packets are
 *      written, which is before the thread rings: gt_graph_assign_deferred(). Until then no
 *      thread handles them.
 *   4. Whoever handles the packet puts the reference into its work in flight.
 *   5. The work has completed: the harvester writes the record; or, where the launch has a span,
 *      calls gt_graph_span_complete_part().
 *   6. The launch has returned: gt_graph_flush_held(), then gt_thread.graph is NULL again.
 *
 * A launch that is like one that was learnt from skips most of 2: HIP sets `unobserved_left`, and
 * the next so many packets that the thread reserves in `queue` have no reference and no signal.
 *
 * In a record the graph's number stands in the upper half of `queue` (record/record.h), beside
 * `replay` and `ordinal`.
 *
 * Without HIP nobody sets gt_thread.graph, and nothing of this is called. */
#ifndef GPUTAP_RUNTIME_GRAPH_NODES_H
#define GPUTAP_RUNTIME_GRAPH_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"
#include "util/provided.h"

/* What a packet of a launch can be. */
enum gt_graph_part { GT_GRAPH_KERNEL = 0, GT_GRAPH_COPY, GT_GRAPH_FILL, GT_GRAPH_PARTS };

#define GT_GRAPH_NO_NODE UINT32_MAX /* ordinal: the node is not known */

/* A launch that is open in this thread, as both sides know it. HIP has it in a struct of its own;
 * only the thread that launches uses it. */
struct gt_graph_launch {
	/* HIP sets them, HSA counts `unobserved_left` down: so many packets that come next in
	 * that queue need neither reference nor signal */
	const void *queue;
	uint64_t unobserved_left, unobserved_all;
	/* HSA's: packets that the thread has rung for and that were not handed on yet, how many
	 * there may be, and the queue where a helper looks after them (NULL: there were none) */
	uint32_t held, held_max;
	void *held_in;
	/* HSA's: packets [deferred_from, + deferred_count) of that queue are reserved and have no
	 * reference yet; NULL: there are none */
	void *deferred_in;
	uint64_t deferred_from, deferred_count;
};

/* The one record of a launch whose nodes have none. Its memory is never given back. */
struct gt_graph_span;

/* Which node of which launch a packet is. */
struct gt_node_ref {
	/* number of the graph's object. `replay` 0: GT_NODE_NOT_RECORDED, or 0 */
	uint32_t graph;
	uint32_t replay;                  /* of the graph, from 1; 0: not of a graph */
	uint32_t ordinal[GT_GRAPH_PARTS]; /* node, if the packet is that */
	/* bit per part: such a packet goes on as if gputap were not there, and is not counted */
	uint32_t unobserved;
	/* NULL: the packet has a record of its own. Else, unless unobserved, it is a part of the
	 * span and not counted as device work: gt_graph_span_complete_part() or _lose_part(),
	 * once */
	struct gt_graph_span *span;
};

/* `graph` of work that was launched while the program paused its recording: tools are notified
 * of it, but it is not recorded. */
#define GT_NODE_NOT_RECORDED UINT32_MAX

/* Was it launched in such a pause? */
static inline bool gt_node_ref_is_paused(const struct gt_node_ref *ref)
{
	return !ref->replay && ref->graph == GT_NODE_NOT_RECORDED;
}

/* The folder that knows graphs ------------------------------------------------------------ */

struct gt_graph_nodes {
	void (*assign_node)(struct gt_graph_launch *launch, const void *queue, uint64_t number,
			    struct gt_node_ref *ref);
	void (*assign_copy)(struct gt_graph_launch *launch, const void *destination,
			    const void *source, uint64_t bytes, struct gt_node_ref *ref);
};
GT_INTERFACE(gt_graph_nodes);

/**
 * gt_graph_assign_node() - the thread has reserved a packet's number in a queue
 * @queue: hsa_queue_t as the program has it
 */
static inline void gt_graph_assign_node(struct gt_graph_launch *launch, const void *queue,
					uint64_t number, struct gt_node_ref *ref)
{
	GT_PROVIDED(gt_graph_nodes)->assign_node(launch, queue, number, ref);
}

/* The same for a copy that is no packet: ref->ordinal[GT_GRAPH_COPY]. */
static inline void gt_graph_assign_copy(struct gt_graph_launch *launch, const void *destination,
					const void *source, uint64_t bytes, struct gt_node_ref *ref)
{
	GT_PROVIDED(gt_graph_nodes)->assign_copy(launch, destination, source, bytes, ref);
}

/* Spans (runtime/graph_span.c) -------------------------------------------------------------- */

/* What a span's record says of its launch. */
struct gt_graph_span_head {
	uint64_t id, start; /* of the call */
	uint32_t graph, replay, name, nodes;
	uint64_t handle;
	enum gt_domain domain; /* of the call; the record is of the domain that does its work */
};

/* NULL: too many launches in flight. One part is the launch itself. */
struct gt_graph_span *gt_graph_span_open(const struct gt_graph_span_head *head);
void gt_graph_span_add_part(struct gt_graph_span *span);
/* The launch has returned. */
void gt_graph_span_close(struct gt_graph_span *span, struct gt_thread *t);
/**
 * gt_graph_span_complete_part() - a part of the launch has completed
 * @device: GT_DEVICE_REF(); @queue: number of its object; @start, @end: raw, of the device's clock
 */
void gt_graph_span_complete_part(struct gt_graph_span *span, struct gt_thread *t, uint32_t device,
				 uint64_t queue, uint64_t start, uint64_t end);
/* A part's times will never be known. */
void gt_graph_span_lose_part(struct gt_graph_span *span, struct gt_thread *t);

/* The folder that makes packets ------------------------------------------------------------ */

/* What is known of a kernel by the address in its packets. */
struct gt_kernel_info {
	uint32_t name; /* string id; 0: not known */
	uint16_t part; /* enum gt_graph_part: a copy or fill of the runtime's own, or a kernel */
	uint16_t unwanted; /* not among `gputap run --kernels` */
};

struct gt_graph_packets {
	const struct gt_kernel_info *(*get_kernel)(const void *queue, uint64_t number,
						   const uint32_t **grid);
	void (*assign_deferred)(struct gt_graph_launch *launch, bool handle);
	void (*flush_held)(struct gt_graph_launch *launch);
	void (*mark_end)(const void *queue, const struct gt_node_ref *ref);
};
GT_INTERFACE(gt_graph_packets);

/**
 * gt_packet_kernel() - the kernel of a packet that this thread has written
 * @grid: receives its work-items in three dimensions; NULL if the packet is no kernel's
 * Return: NULL: no kernel's packet, or no code object that was seen being loaded has it.
 */
static inline const struct gt_kernel_info *gt_packet_kernel(const void *queue, uint64_t number,
							    const uint32_t **grid)
{
	return GT_PROVIDED(gt_graph_packets)->get_kernel(queue, number, grid);
}

/* Step 3. The launch has `deferred_in`. @handle: hand the packets on, too, whether they are rung
 * for or not. */
static inline void gt_graph_assign_deferred(struct gt_graph_launch *launch, bool handle)
{
	GT_PROVIDED(gt_graph_packets)->assign_deferred(launch, handle);
}

/* Packets that the launch has rung for and that are held back go to the device. */
static inline void gt_graph_flush_held(struct gt_graph_launch *launch)
{
	if (launch->held_in)
		GT_PROVIDED(gt_graph_packets)->flush_held(launch);
}

/**
 * gt_graph_mark_end() - put a packet of gputap's behind the newest one in @queue
 * Where the launch's last packet was not observed: the end of this one is a part of ref->span. It
 * waits for all packets before it, and so do those behind it. Counted as lost if there is no room.
 */
static inline void gt_graph_mark_end(const void *queue, const struct gt_node_ref *ref)
{
	GT_PROVIDED(gt_graph_packets)->mark_end(queue, ref);
}

#endif
