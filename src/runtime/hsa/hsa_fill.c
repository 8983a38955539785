/* SPDX-License-Identifier: MIT */
/* See hsa_fill.h. */
#include "runtime/hsa/hsa_fill.h"

#include <string.h>

void gt_hsa_fill_transfer(struct gt_hsa_queue *q, struct gt_hsa_activity *w,
			  const struct gt_submitter *by, enum gt_graph_part part)
{
	static const uint8_t copies[] = {GT_DEVICE_COPY, GT_DEVICE_WRITE, GT_DEVICE_READ,
					 GT_DEVICE_COPY, GT_DEVICE_COPY};
	uint64_t *moved = &q->moved.recorded[GT_ID_ORDINAL(by->id) % GT_HSA_MOVERS];

	if (!by->bytes)
		return;
	w->op = part == GT_GRAPH_FILL ? GT_DEVICE_FILL
				      : copies[by->direction < sizeof copies ? by->direction : 0];
	w->bytes = *moved == by->id ? 0 : by->bytes;
	w->object[0] = by->source;
	w->object[1] = by->destination;
	*moved = by->id;
}

void gt_hsa_fill_barrier(const struct gt_hsa_queue *q, struct gt_hsa_activity *w,
			 const struct gt_hsa_barrier_packet *p, const struct gt_submitter *by,
			 const struct gt_thread *t)
{
	gt_hsa_fill_linked(q, w, by, GT_DEVICE_BARRIER, t);
	w->name = q->barrier_names[GT_HSA_PACKET_TYPE(p->header) == GT_HSA_PACKET_BARRIER_OR];
	w->object[0] = w->object[1] = 0;
	memset(w->global, 0, sizeof w->global);
	memset(w->local, 0, sizeof w->local);
	if (by && by->node.replay) {
		w->replay = by->node.replay;
		w->ordinal = GT_GRAPH_NO_NODE;
		w->queue |= (uint64_t)by->node.graph << 32;
	}
	w->queued = gt_ticks();
}
