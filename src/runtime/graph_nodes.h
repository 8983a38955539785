/* SPDX-License-Identifier: MIT */
/* Maps a packet to its node and graph launch: the interface between the folder that knows graphs
 * (HIP) and the folder that creates packets (HSA). Neither includes the other.
 *
 *   hipGraphLaunch ── gt_thread.graph ──► packet number reserved: gt_graph_assign_node()
 *                                         copy submitted:         gt_graph_assign_copy()
 *                                                                        │ node reference
 *                                                                        ▼
 *                                         packet handled, by any thread:
 *                                         record {graph, replay, ordinal}, or a part of the span
 *
 * Steps of a launch, all in the launching thread except 4 and 5:
 *   1. HIP embeds a struct gt_graph_launch in its own struct and sets gt_thread.graph (plain store;
 *      only this thread reads it).
 *   2. Each time the thread reserves a packet's number, HSA calls gt_graph_assign_node(). The
 *      thread reserves numbers in the order of the graph's nodes, and has written the previous
 *      packet before it reserves the next one. HIP reads that previous packet (gt_packet_kernel()),
 *      advances its position in the order past it, and determines the node of the new packet. The
 *      kind of the new packet (a kernel of the program, a copy or fill made of kernels, a barrier)
 *      is known only when the packet is handled, so a reference contains a node for each kind.
 *   3. HIP 7 reserves many numbers at a time. Their references are created once all packets are
 *      written, before the thread rings the doorbell: gt_graph_assign_deferred(). Until then these
 *      packets must not be handled by any thread.
 *   4. The thread that handles the packet puts the reference into the activity in flight.
 *   5. When the packet completes, the harvester writes the record. If the launch has a span, the
 *      harvester calls gt_graph_span_complete_part() instead.
 *   6. When the launch returns, HIP calls gt_graph_flush_held() and sets gt_thread.graph to NULL.
 *
 * A launch that matches an earlier launch skips most of step 2: HIP sets `unobserved_left`, and
 * that number of the next packets reserved in `queue` get no reference and no signal.
 *
 * A record contains the graph's number in the upper half of `queue` (record/record.h), next to
 * `replay` and `ordinal`.
 *
 * Without HIP, gt_thread.graph is never set and none of these functions is called. */
#ifndef GPUTAP_RUNTIME_GRAPH_NODES_H
#define GPUTAP_RUNTIME_GRAPH_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"
#include "util/provided.h"

/* Kind of a packet in a launch. */
enum gt_graph_part { GT_GRAPH_KERNEL = 0, GT_GRAPH_COPY, GT_GRAPH_FILL, GT_GRAPH_PARTS };

#define GT_GRAPH_NO_NODE UINT32_MAX /* ordinal of an unknown node */

/* An open launch of this thread: the data that both folders use. HIP embeds this struct in its own
 * struct. Only the launching thread uses it. */
struct gt_graph_launch {
	/* Set by HIP. HSA counts `unobserved_left` down: that number of the next packets in `queue`
	 * need neither reference nor signal. */
	const void *queue;
	uint64_t unobserved_left, unobserved_all;
	/* Used by HSA. held: number of packets for which the thread has rung the doorbell and that
	 * were not handed on yet; held_max: maximum of held; held_in: queue whose helper hands them
	 * on if necessary (NULL: none). */
	uint32_t held, held_max;
	void *held_in;
	/* Used by HSA: packets [deferred_from, + deferred_count) of queue `deferred_in` are
	 * reserved and have no reference yet; NULL: none. */
	void *deferred_in;
	uint64_t deferred_from, deferred_count;
};

/* Single record of a launch whose nodes have no separate records. Its memory is never freed. */
struct gt_graph_span;

/* Node and launch of a packet. */
struct gt_node_ref {
	/* number of the graph's object; if `replay` is 0: GT_NODE_NOT_RECORDED, or 0 */
	uint32_t graph;
	/* number of the graph's launch, from 1; 0: not part of a graph */
	uint32_t replay;
	uint32_t ordinal[GT_GRAPH_PARTS]; /* node for each kind of packet */
	/* bit per part: packets of that kind are not observed and not counted */
	uint32_t unobserved;
	/* NULL: the packet has a separate record. Otherwise the packet, unless unobserved, is a
	 * part of the span and not counted as a GPU activity. Its handler must call
	 * gt_graph_span_complete_part() or gt_graph_span_lose_part() once. */
	struct gt_graph_span *span;
};

/* `graph` of GPU activities that were launched while the program paused recording. Such activities
 * are reported to tools, but not recorded. */
#define GT_NODE_NOT_RECORDED UINT32_MAX

/* Return true if the packet was launched while the program paused recording. */
static inline bool gt_node_ref_is_paused(const struct gt_node_ref *ref)
{
	return !ref->replay && ref->graph == GT_NODE_NOT_RECORDED;
}

/* Functions of the folder that knows graphs ----------------------------------------------- */

struct gt_graph_nodes {
	void (*assign_node)(struct gt_graph_launch *launch, const void *queue, uint64_t number,
			    struct gt_node_ref *ref);
	void (*assign_copy)(struct gt_graph_launch *launch, const void *destination,
			    const void *source, uint64_t bytes, struct gt_node_ref *ref);
};
GT_INTERFACE(gt_graph_nodes);

/**
 * gt_graph_assign_node() - create the reference of a packet whose number was just reserved
 * @queue: hsa_queue_t that the program uses
 */
static inline void gt_graph_assign_node(struct gt_graph_launch *launch, const void *queue,
					uint64_t number, struct gt_node_ref *ref)
{
	GT_PROVIDED(gt_graph_nodes)->assign_node(launch, queue, number, ref);
}

/* Create the reference of a copy that is not a packet: set ref->ordinal[GT_GRAPH_COPY]. */
static inline void gt_graph_assign_copy(struct gt_graph_launch *launch, const void *destination,
					const void *source, uint64_t bytes, struct gt_node_ref *ref)
{
	GT_PROVIDED(gt_graph_nodes)->assign_copy(launch, destination, source, bytes, ref);
}

/* Spans (runtime/graph_span.c) -------------------------------------------------------------- */

/* Fields of a span's record that describe its launch. */
struct gt_graph_span_head {
	uint64_t id, start; /* id and start of the launching call */
	uint32_t graph, replay, name, nodes;
	uint64_t handle;
	/* domain of the launching call; the record belongs to the domain that executes the
	 * launch */
	enum gt_domain domain;
};

/* Open a span. Return NULL if too many launches are in flight. The launch itself counts as one
 * part. */
struct gt_graph_span *gt_graph_span_open(const struct gt_graph_span_head *head);
void gt_graph_span_add_part(struct gt_graph_span *span);
/* End the part that is the launch itself. Call when the launch has returned. */
void gt_graph_span_close(struct gt_graph_span *span, struct gt_thread *t);
/**
 * gt_graph_span_complete_part() - report that a part of the launch has completed
 * @device: GT_DEVICE_REF()
 * @queue: number of the queue's object
 * @start, @end: raw device ticks
 */
void gt_graph_span_complete_part(struct gt_graph_span *span, struct gt_thread *t, uint32_t device,
				 uint64_t queue, uint64_t start, uint64_t end);
/* Report that the times of a part will never be known. */
void gt_graph_span_lose_part(struct gt_graph_span *span, struct gt_thread *t);

/* Functions of the folder that creates packets --------------------------------------------- */

/* Properties of a kernel. The address in the kernel's packets identifies the kernel. */
struct gt_kernel_info {
	uint32_t name;     /* string id; 0: not known */
	uint16_t part;     /* enum gt_graph_part: a copy or fill of the runtime, or a kernel */
	uint16_t unwanted; /* true if not selected by `gputap run --kernels` */
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
 * gt_packet_kernel() - return the kernel of a packet that this thread has written
 * @grid: receives the number of work-items in three dimensions; NULL if the packet is not a kernel
 * Return: NULL if the packet is not a kernel, or if none of the code objects whose loading was
 *         observed contains the kernel.
 */
static inline const struct gt_kernel_info *gt_packet_kernel(const void *queue, uint64_t number,
							    const uint32_t **grid)
{
	return GT_PROVIDED(gt_graph_packets)->get_kernel(queue, number, grid);
}

/* Do step 3 for a launch that has `deferred_in`. @handle: true to also hand the packets on, even if
 * their doorbell was not rung */
static inline void gt_graph_assign_deferred(struct gt_graph_launch *launch, bool handle)
{
	GT_PROVIDED(gt_graph_packets)->assign_deferred(launch, handle);
}

/* Hand on packets that are held back although the launching thread has rung the doorbell for
 * them. */
static inline void gt_graph_flush_held(struct gt_graph_launch *launch)
{
	if (launch->held_in)
		GT_PROVIDED(gt_graph_packets)->flush_held(launch);
}

/**
 * gt_graph_mark_end() - add a gputap packet after the newest packet in @queue
 * Used if the last packet of the launch was not observed, so that the end of the added packet is a
 * part of ref->span. The packet waits for all earlier packets, and later packets wait for it.
 * Counted as lost if the queue is full.
 */
static inline void gt_graph_mark_end(const void *queue, const struct gt_node_ref *ref)
{
	GT_PROVIDED(gt_graph_packets)->mark_end(queue, ref);
}

#endif
