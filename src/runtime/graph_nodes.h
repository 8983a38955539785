/* SPDX-License-Identifier: MIT */
/* What the layer that makes packets of a graph (HSA) asks the layer that knows graphs (HIP).
 *
 *   hipGraphLaunch ── gt_thread.graph ──► packet number reserved: gt_graph_assign_node()
 *                                         copy submitted:         gt_graph_assign_copy()
 *                                                                        │ node reference
 *                                                                        ▼
 *                                         packet handled, by whichever thread:
 *                                         record {graph, replay, ordinal}, or a part of the
 *                                         launch's one record
 *
 * The thread that launches reserves its packets' numbers in the order of the graph's nodes, one
 * packet after the other, and has written the former one when it reserves the next: that is
 * where a packet gets its node. Whether it is a kernel of the program, a copy or a fill made of
 * kernels, or a barrier is known when it is handled, maybe by another thread that shares the
 * queue: so a stamp has a node for each of these.
 *
 * HIP 7 reserves many at a time. These get their nodes when all are written, which is before the
 * thread rings; until then nobody handles them (GT_HSA_LATER).
 *
 * In a record the graph's number stands in the upper half of `queue` (record/record.h), beside
 * `replay` and `ordinal`.
 *
 * Weak: without HIP nobody sets gt_thread.graph, and nothing of this is called. */
#ifndef GPUTAP_RUNTIME_GRAPH_NODES_H
#define GPUTAP_RUNTIME_GRAPH_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/tap.h"

/* What a packet of a launch can be. Its numbers are those of enum gt_hsa_kernel_class. */
enum gt_graph_part { GT_GRAPH_KERNEL = 0, GT_GRAPH_COPY, GT_GRAPH_FILL, GT_GRAPH_PARTS };

#define GT_GRAPH_NO_NODE UINT32_MAX /* ordinal: the node is not known */

/* What begins a struct gt_graph_launch: the next @left packets that its thread reserves in this
 * queue are known not to be observed, and need not be asked for. */
struct gt_graph_quiet {
	const void *queue;
	uint64_t left;
	uint64_t all; /* as many were they at first */
	/* of those that it has rung for, so many were not handed on; how many may be */
	uint32_t held, most;
	struct gt_hsa_queue *holder; /* where its helper looks after them; NULL: there were none */
	/* where packets were reserved that have no node yet; NULL: nowhere */
	struct gt_hsa_queue *later;
	uint64_t later_from, later_count;
};

/* One launch's record where nodes have none. Its memory is never given back. */
struct gt_graph_span;

struct gt_node_ref {
	uint32_t graph;                   /* number of its object */
	uint32_t replay;                  /* of the graph, from 1; 0: not of a graph */
	uint32_t ordinal[GT_GRAPH_PARTS]; /* node, if the packet is that */
	/* bit per part: let it run as if gputap were not there, and count nothing */
	uint32_t unobserved;
	/* NULL: a record of its own. Else, unless unobserved: gt_graph_span_complete_part() when it
	 * has completed, or _lost(), once; not counted as device work */
	struct gt_graph_span *span;
};

/**
 * gt_graph_assign_node() - the thread has reserved a packet's number in a queue
 * @queue: hsa_queue_t as the runtime has it, its packets as the producer writes them
 */
void gt_graph_assign_node(struct gt_graph_launch *launch, const void *queue, uint64_t number,
			  struct gt_node_ref *stamp) GT_WRAP;

/* Packets that were reserved together are written: they get their nodes. @handle: and are moved
 * on, whether they are rung for or not. */
void gt_graph_assign_deferred(struct gt_graph_launch *launch, bool handle) GT_WRAP;

/* The launch has returned: nothing that it rang for is held back any longer. */
void gt_graph_flush_held(struct gt_graph_launch *launch) GT_WRAP;

/**
 * gt_graph_mark_end() - a packet of gputap's behind the newest one in @queue, whose end is a part
 * of the span Where the launch's last packet was not observed. It waits for all before it, and so
 * does what comes behind. Counted as lost if it cannot be.
 */
void gt_graph_mark_end(const void *queue, const struct gt_node_ref *stamp) GT_WRAP;

/* A copy that is no packet: stamp->ordinal[GT_GRAPH_COPY]. */
void gt_graph_assign_copy(struct gt_graph_launch *launch, const void *destination,
			  const void *source, uint64_t bytes, struct gt_node_ref *stamp) GT_WRAP;

/**
 * gt_graph_span_complete_part() - a part has completed
 * @device: GT_DEVICE_REF(); @queue: number of its object; @start, @end: raw, of the device's clock
 */
void gt_graph_span_complete_part(struct gt_graph_span *span, struct gt_thread *t, uint32_t device,
				 uint64_t queue, uint64_t start, uint64_t end) GT_WRAP;
/* Its times will never be known. */
void gt_graph_span_lose_part(struct gt_graph_span *span, struct gt_thread *t) GT_WRAP;

#endif
