/* SPDX-License-Identifier: MIT */
/* The doorbell, and its special treatment during the launch of a graph (hsa_graph_batch.c). */
#ifndef GPUTAP_RUNTIME_HSA_GRAPH_BATCH_H
#define GPUTAP_RUNTIME_HSA_GRAPH_BATCH_H

#include "runtime/hsa/hsa_queue.h"

/* Hand the packets written so far to the device. @wait: true to wait for room; if false, the helper
 * does the rest */
void gt_hsa_handle_packets(struct gt_hsa_queue *q, uint64_t index, bool wait);

/* Handle a ring of the doorbell with @index in this thread, like gt_hsa_handle_packets(). Packets
 * in the middle of a graph's launch may be held back. */
void gt_hsa_on_doorbell(struct gt_hsa_queue *q, uint64_t index);

/* Functions that HIP calls through runtime/graph_nodes.h, which describes them. */
void gt_hsa_assign_deferred(struct gt_graph_launch *graph, bool handle);
void gt_hsa_flush_held(struct gt_graph_launch *graph);

/* Note that this thread has reserved packets [from, from + count). Handles the cases that
 * gt_hsa_submitters_note_plain() leaves out. */
static inline GT_IN_LINE void gt_hsa_note_reserved(struct gt_hsa_queue *q, uint64_t from,
						   uint64_t count)
{
	struct gt_graph_launch *graph = gt_thread.graph;

	if (gt_unlikely(graph != NULL) && graph->deferred_in)
		gt_hsa_assign_deferred(graph, false);
	if (gt_unlikely(graph != NULL) && count > 1 && count <= q->submitters.mask) {
		graph->deferred_in = q;
		graph->deferred_from = from;
		graph->deferred_count = count;
	}
	gt_hsa_submitters_note(&q->submitters, &q->ring, q->handle, from, count);
}

#endif
