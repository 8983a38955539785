/* SPDX-License-Identifier: MIT */
/* Fills in the activity in flight from a packet: the whole record except the times. Runs in the
 * ring's worker. */
#ifndef GPUTAP_RUNTIME_HSA_FILL_H
#define GPUTAP_RUNTIME_HSA_FILL_H

#include "runtime/hsa/hsa_code.h"
#include "runtime/hsa/hsa_queue.h"

/* Fill in the fields common to all packets. */
static inline GT_IN_LINE void gt_hsa_fill_common(const struct gt_hsa_queue *q,
						 struct gt_hsa_activity *w, enum gt_device_op op,
						 uint64_t id, uint64_t call_start)
{
	w->op = (uint8_t)op;
	w->id = id;
	w->call_start = call_start;
	w->queue = q->number;
	w->bytes = 0;
	w->replay = w->ordinal = 0;
	w->span = NULL;
}

/* Fill in the fields common to all kernels. */
static inline GT_IN_LINE void gt_hsa_fill_dispatch(struct gt_hsa_activity *w,
						   const struct gt_hsa_kernel_packet *p,
						   uint32_t name, uint64_t symbol)
{
	w->name = name;
	w->object[0] = p->kernel_object;
	w->object[1] = GT_KERNEL_DETAIL(symbol, p->group_bytes, p->private_bytes);
	for (int i = 0; i < 3; i++) {
		w->global[i] = p->grid[i];
		w->local[i] = p->local[i];
	}
}

/* Fill in the call to which the activity is linked. @by: NULL: not known */
static inline GT_IN_LINE void gt_hsa_fill_linked(const struct gt_hsa_queue *q,
						 struct gt_hsa_activity *w,
						 const struct gt_submitter *by,
						 enum gt_device_op op, const struct gt_thread *t)
{
	uint64_t id = by ? by->id : t->api_id, start = by ? by->start : t->api_start;

	if (!id) { /* without HIP: the call that rings the doorbell */
		id = t->depth ? t->next_id - 1 : 0; /* innermost open call */
		start = t->depth ? gt_ticks() : 0;
	}
	gt_hsa_fill_common(q, w, op, id, start);
}

/* Fill in a kernel with which HIP itself copies or fills memory. The bytes of the call are counted
 * with the call's first such kernel; kernels of other threads may come between them. */
void gt_hsa_fill_transfer(struct gt_hsa_queue *q, struct gt_hsa_activity *w,
			  const struct gt_submitter *by, enum gt_graph_part part);

/* Fill in a kernel. @o: NULL: the call that reserved the packet's number is not known */
static inline GT_IN_LINE void gt_hsa_fill_kernel(struct gt_hsa_queue *q, struct gt_hsa_activity *w,
						 const struct gt_hsa_kernel_packet *p,
						 const struct gt_hsa_submitter *o,
						 const struct gt_hsa_kernel *k,
						 const struct gt_thread *t)
{
	enum gt_graph_part part = k ? (enum gt_graph_part)k->info.part : GT_GRAPH_KERNEL;

	gt_hsa_fill_linked(q, w, o ? &o->by : NULL, GT_DEVICE_KERNEL, t);
	gt_hsa_fill_dispatch(w, p, k ? k->info.name : 0, k ? k->symbol : 0);
	if (gt_unlikely(part != GT_GRAPH_KERNEL) && o)
		gt_hsa_fill_transfer(q, w, &o->by, part);
	if (gt_unlikely(o && o->by.node.replay))
		gt_hsa_activity_set_node(w, &o->by.node, part);
	w->queued = gt_ticks(); /* takes a third of the time of reading CLOCK_BOOTTIME */
}

void gt_hsa_fill_barrier(const struct gt_hsa_queue *q, struct gt_hsa_activity *w,
			 const struct gt_hsa_barrier_packet *p, const struct gt_submitter *by,
			 const struct gt_thread *t);

#endif
